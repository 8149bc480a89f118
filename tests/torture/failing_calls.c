/* Preloaded into a process: the n-th system call about files below one folder fails, or kills.
 *
 * Calls are counted from `arm` on. At the chosen one `errno` is set and the call fails; with an
 * errno of 0 the process gets SIGKILL instead, right before the call. Other files, such as the
 * interpreter's own, are left alone.
 *
 * What was written and not synced is remembered: a file or folder that gets a name for users while
 * some of it could be lost in a power cut is counted, too.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
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
static atomic_long own[2];
static atomic_long *seen = own; /* calls; and names that were given too early */

/* Fail the call number `at` (0: none, only count) below `below`. The count is kept at `counter`,
 * which another process may read; without `links`, no hard link can be made. */
void arm(const char *below, long at, int number, int links, void *counter) {
    seen = counter;
    atomic_store(seen, 0);
    atomic_store(seen + 1, 0);
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

/* Paths of files that were written to and not synced since. */
#define MOST 512
static char unsynced[MOST][PATH_MAX];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int starts_with(const char *path, const char *folder_or_file) {
    size_t length = strlen(folder_or_file);
    return strncmp(path, folder_or_file, length) == 0 && (!path[length] || path[length] == '/');
}

static void written(const char *path) {
    int free_place = -1;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < MOST; i++) {
        if (strcmp(unsynced[i], path) == 0) free_place = MOST;
        if (free_place < 0 && !unsynced[i][0]) free_place = i;
    }
    if (free_place >= 0 && free_place < MOST) strcpy(unsynced[free_place], path);
    pthread_mutex_unlock(&lock);
}

static void synced(const char *path) {
    pthread_mutex_lock(&lock);
    for (int i = 0; i < MOST; i++)
        if (strcmp(unsynced[i], path) == 0) unsynced[i][0] = 0;
    pthread_mutex_unlock(&lock);
}

static int is_for_users(const char *path) {
    return !strstr(path, "/.nearly-") && !strstr(path, ".scratch/") && !strstr(path, "/desk/tmp/");
}

/* A file, or a folder of files, gets another name. */
static void named(const char *from, const char *to) {
    pthread_mutex_lock(&lock);
    for (int i = 0; i < MOST; i++) {
        if (!unsynced[i][0] || !starts_with(unsynced[i], from)) continue;
        if (is_for_users(to)) atomic_fetch_add(seen + 1, 1);
        unsynced[i][0] = 0;
    }
    pthread_mutex_unlock(&lock);
}

/* The whole path of a name in a folder; 0 where there is none. */
static int full_path(int directory, const char *path, char *full) {
    char name[64];
    ssize_t length = 0;
    if (path[0] == '/') return snprintf(full, PATH_MAX, "%s", path) < PATH_MAX;
    if (directory == AT_FDCWD) {
        if (!getcwd(full, PATH_MAX)) return 0;
        length = (ssize_t)strlen(full);
    } else {
        snprintf(name, sizeof name, "/proc/self/fd/%d", directory);
        length = readlink(name, full, PATH_MAX);
        if (length < 0) return 0;
    }
    return snprintf(full + length, PATH_MAX - (size_t)length, "/%s", path) < PATH_MAX - length;
}

static int fails_at(int directory, const char *path) {
    char full[PATH_MAX];
    return folder[0] && full_path(directory, path, full) && is_below(full) && fails();
}

/* The path of an open file below the folder; 0 for others. */
static int path_of(int descriptor, char *full) {
    char name[64];
    int kept = errno;
    if (!folder[0] || descriptor < 0) return 0;
    snprintf(name, sizeof name, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(name, full, PATH_MAX - 1);
    errno = kept;
    if (length < 0) return 0;
    full[length] = 0;
    return is_below(full);
}

static int fails_on(int descriptor) {
    char full[PATH_MAX];
    return path_of(descriptor, full) && fails();
}

static int fails_on_writing(int descriptor) {
    char full[PATH_MAX];
    if (!path_of(descriptor, full)) return 0;
    written(full);
    return fails();
}

static int fails_on_syncing(int descriptor) {
    char full[PATH_MAX];
    if (!path_of(descriptor, full)) return 0;
    if (fails()) return 1;
    synced(full);
    return 0;
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

#define CHECKED(check, type, name, parameters, arguments, ...) \
    type name parameters { \
        REAL(type, name, __VA_ARGS__); \
        return check(descriptor) ? (type)-1 : real arguments; \
    }
#define ON_DESCRIPTOR(...) CHECKED(fails_on, __VA_ARGS__)
#define WRITING(...) CHECKED(fails_on_writing, __VA_ARGS__)
#define SYNCING(...) CHECKED(fails_on_syncing, __VA_ARGS__)
ON_DESCRIPTOR(ssize_t, read, (int descriptor, void *to, size_t n), (descriptor, to, n), int, void *, size_t)
WRITING(ssize_t, write, (int descriptor, const void *data, size_t n), (descriptor, data, n), int, const void *, size_t)
ON_DESCRIPTOR(ssize_t, pread, (int descriptor, void *to, size_t n, off_t at), (descriptor, to, n, at), int, void *, size_t, off_t)
ON_DESCRIPTOR(ssize_t, pread64, (int descriptor, void *to, size_t n, off64_t at), (descriptor, to, n, at), int, void *, size_t, off64_t)
WRITING(ssize_t, pwrite, (int descriptor, const void *data, size_t n, off_t at), (descriptor, data, n, at), int, const void *, size_t, off_t)
WRITING(ssize_t, pwrite64, (int descriptor, const void *data, size_t n, off64_t at), (descriptor, data, n, at), int, const void *, size_t, off64_t)
WRITING(ssize_t, writev, (int descriptor, const struct iovec *data, int n), (descriptor, data, n), int, const struct iovec *, int)
SYNCING(int, fsync, (int descriptor), (descriptor), int)
SYNCING(int, fdatasync, (int descriptor), (descriptor), int)
WRITING(int, ftruncate, (int descriptor, off_t size), (descriptor, size), int, off_t)
WRITING(int, ftruncate64, (int descriptor, off64_t size), (descriptor, size), int, off64_t)
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
ON_PATH(symlink, (const char *from, const char *to), (from, to), to, const char *, const char *)
ON_PATH(rmdir, (const char *path), (path), path, const char *)
ON_PATH(mkdir, (const char *path, mode_t mode), (path, mode), path, const char *, mode_t)

static int no_link(int directory, const char *to) {
    if (fails_at(directory, to)) return 1;
    if (has_links) return 0;
    errno = EXDEV;
    return 1;
}

/* What was begun is done: a name that was given is looked at. */
static int named_at(int result, int from_at, const char *from, int to_at, const char *to) {
    char old[PATH_MAX], new[PATH_MAX];
    if (result == 0 && folder[0] && full_path(from_at, from, old) && full_path(to_at, to, new))
        named(old, new);
    return result;
}

int rename(const char *from, const char *to) {
    REAL(int, rename, const char *, const char *);
    if (fails_at(AT_FDCWD, to)) return -1;
    return named_at(real(from, to), AT_FDCWD, from, AT_FDCWD, to);
}

int renameat(int from_at, const char *from, int to_at, const char *to) {
    REAL(int, renameat, int, const char *, int, const char *);
    if (fails_at(to_at, to)) return -1;
    return named_at(real(from_at, from, to_at, to), from_at, from, to_at, to);
}

int link(const char *from, const char *to) {
    REAL(int, link, const char *, const char *);
    if (no_link(AT_FDCWD, to)) return -1;
    return named_at(real(from, to), AT_FDCWD, from, AT_FDCWD, to);
}

int linkat(int from_at, const char *from, int to_at, const char *to, int flags) {
    REAL(int, linkat, int, const char *, int, const char *, int);
    if (no_link(to_at, to)) return -1;
    return named_at(real(from_at, from, to_at, to, flags), from_at, from, to_at, to);
}

int unlinkat(int directory, const char *path, int flags) {
    REAL(int, unlinkat, int, const char *, int);
    char full[PATH_MAX];
    if (fails_at(directory, path)) return -1;
    if (folder[0] && full_path(directory, path, full)) synced(full); /* nobody needs it */
    return real(directory, path, flags);
}

int unlink(const char *path) {
    return unlinkat(AT_FDCWD, path, 0);
}

int mkdirat(int directory, const char *path, mode_t mode) {
    REAL(int, mkdirat, int, const char *, mode_t);
    return fails_at(directory, path) ? -1 : real(directory, path, mode);
}
