/* Preloaded into a process: the n-th system call about files below one folder fails, or kills.
 *
 * Calls are counted from `arm` on. At the chosen one `errno` is set and the call fails; with an
 * errno of 0 the process gets SIGKILL instead, right before the call. Other files, such as the
 * interpreter's own, are left alone.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static char folder[PATH_MAX];
static long chosen;
static int error_number;
static int has_links = 1;
static atomic_long own;
static atomic_long *seen = &own;

/* Fail the call number `at` (0: none, only count) below `below`. The count is kept at `counter`,
 * which another process may read; without `links`, no hard link can be made. */
void arm(const char *below, long at, int number, int links, void *counter) {
    seen = counter;
    atomic_store(seen, 0);
    chosen = at;
    error_number = number;
    has_links = links;
    strncpy(folder, below, sizeof folder - 1);
}

static int is_below(const char *path) {
    return folder[0] && strncmp(path, folder, strlen(folder)) == 0;
}

static int fails(void) {
    if (atomic_fetch_add(seen, 1) + 1 != chosen) return 0;
    if (error_number == 0) kill(getpid(), SIGKILL);
    errno = error_number;
    return 1;
}

static int fails_at(int directory, const char *path) {
    char full[2 * PATH_MAX], name[64];
    if (!folder[0]) return 0;
    if (path[0] == '/') return is_below(path) && fails();
    ssize_t length;
    if (directory == AT_FDCWD) {
        if (!getcwd(full, PATH_MAX)) return 0;
        length = (ssize_t)strlen(full);
    } else {
        snprintf(name, sizeof name, "/proc/self/fd/%d", directory);
        length = readlink(name, full, PATH_MAX);
        if (length < 0) return 0;
    }
    snprintf(full + length, sizeof full - (size_t)length, "/%s", path);
    return is_below(full) && fails();
}

static int fails_on(int descriptor) {
    char full[PATH_MAX], name[64];
    int kept = errno;
    if (!folder[0] || descriptor < 0) return 0;
    snprintf(name, sizeof name, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(name, full, sizeof full - 1);
    errno = kept;
    if (length < 0) return 0;
    full[length] = 0;
    return is_below(full) && fails();
}

#define REAL(type, name, ...) \
    static type (*real)(__VA_ARGS__); \
    if (!real) real = (type (*)(__VA_ARGS__))dlsym(RTLD_NEXT, #name)

#define MODE(flags) \
    mode_t mode = 0; \
    if ((flags) & (O_CREAT | O_TMPFILE)) { \
        va_list more; \
        va_start(more, flags); \
        mode = va_arg(more, mode_t); \
        va_end(more); \
    }

#define OPEN(name) \
    int name(const char *path, int flags, ...) { \
        REAL(int, name, const char *, int, ...); \
        MODE(flags) \
        return fails_at(AT_FDCWD, path) ? -1 : real(path, flags, mode); \
    }
OPEN(open)
OPEN(open64)

#define OPENAT(name) \
    int name(int directory, const char *path, int flags, ...) { \
        REAL(int, name, int, const char *, int, ...); \
        MODE(flags) \
        return fails_at(directory, path) ? -1 : real(directory, path, flags, mode); \
    }
OPENAT(openat)
OPENAT(openat64)

#define ON_DESCRIPTOR(type, name, parameters, arguments, ...) \
    type name parameters { \
        REAL(type, name, __VA_ARGS__); \
        return fails_on(descriptor) ? (type)-1 : real arguments; \
    }
ON_DESCRIPTOR(ssize_t, read, (int descriptor, void *to, size_t n), (descriptor, to, n), int, void *, size_t)
ON_DESCRIPTOR(ssize_t, write, (int descriptor, const void *data, size_t n), (descriptor, data, n), int, const void *, size_t)
ON_DESCRIPTOR(ssize_t, pread, (int descriptor, void *to, size_t n, off_t at), (descriptor, to, n, at), int, void *, size_t, off_t)
ON_DESCRIPTOR(ssize_t, pread64, (int descriptor, void *to, size_t n, off64_t at), (descriptor, to, n, at), int, void *, size_t, off64_t)
ON_DESCRIPTOR(ssize_t, pwrite, (int descriptor, const void *data, size_t n, off_t at), (descriptor, data, n, at), int, const void *, size_t, off_t)
ON_DESCRIPTOR(ssize_t, pwrite64, (int descriptor, const void *data, size_t n, off64_t at), (descriptor, data, n, at), int, const void *, size_t, off64_t)
ON_DESCRIPTOR(ssize_t, writev, (int descriptor, const struct iovec *data, int n), (descriptor, data, n), int, const struct iovec *, int)
ON_DESCRIPTOR(int, fsync, (int descriptor), (descriptor), int)
ON_DESCRIPTOR(int, fdatasync, (int descriptor), (descriptor), int)
ON_DESCRIPTOR(int, ftruncate, (int descriptor, off_t size), (descriptor, size), int, off_t)
ON_DESCRIPTOR(int, ftruncate64, (int descriptor, off64_t size), (descriptor, size), int, off64_t)
ON_DESCRIPTOR(int, fchmod, (int descriptor, mode_t mode), (descriptor, mode), int, mode_t)
ON_DESCRIPTOR(int, flock, (int descriptor, int operation), (descriptor, operation), int, int)

/* A descriptor is gone even where closing it reports an error. */
int close(int descriptor) {
    REAL(int, close, int);
    int bad = fails_on(descriptor), number = errno;
    int result = real(descriptor);
    if (!bad) return result;
    errno = number;
    return -1;
}

#define MMAP(name, offset) \
    void *name(void *at, size_t n, int protection, int flags, int descriptor, offset start) { \
        REAL(void *, name, void *, size_t, int, int, int, offset); \
        int file = !(flags & MAP_ANONYMOUS); \
        return file && fails_on(descriptor) ? MAP_FAILED : real(at, n, protection, flags, descriptor, start); \
    }
MMAP(mmap, off_t)
MMAP(mmap64, off64_t)

#define ON_PATH(name, parameters, arguments, path, ...) \
    int name parameters { \
        REAL(int, name, __VA_ARGS__); \
        return fails_at(AT_FDCWD, path) ? -1 : real arguments; \
    }
ON_PATH(rename, (const char *from, const char *to), (from, to), to, const char *, const char *)
ON_PATH(symlink, (const char *from, const char *to), (from, to), to, const char *, const char *)
ON_PATH(unlink, (const char *path), (path), path, const char *)
ON_PATH(rmdir, (const char *path), (path), path, const char *)
ON_PATH(mkdir, (const char *path, mode_t mode), (path, mode), path, const char *, mode_t)

static int no_link(int directory, const char *to) {
    if (fails_at(directory, to)) return 1;
    if (has_links) return 0;
    errno = EXDEV;
    return 1;
}

int link(const char *from, const char *to) {
    REAL(int, link, const char *, const char *);
    return no_link(AT_FDCWD, to) ? -1 : real(from, to);
}

int renameat(int from_at, const char *from, int to_at, const char *to) {
    REAL(int, renameat, int, const char *, int, const char *);
    return fails_at(to_at, to) ? -1 : real(from_at, from, to_at, to);
}

int linkat(int from_at, const char *from, int to_at, const char *to, int flags) {
    REAL(int, linkat, int, const char *, int, const char *, int);
    return no_link(to_at, to) ? -1 : real(from_at, from, to_at, to, flags);
}

int unlinkat(int directory, const char *path, int flags) {
    REAL(int, unlinkat, int, const char *, int);
    return fails_at(directory, path) ? -1 : real(directory, path, flags);
}

int mkdirat(int directory, const char *path, mode_t mode) {
    REAL(int, mkdirat, int, const char *, mode_t);
    return fails_at(directory, path) ? -1 : real(directory, path, mode);
}
