"""Stop words: the built-in English list, and lists read from a file."""

from os import PathLike, fsdecode

from nearly.errors import MissingError, SourceError, UnreadableError

__all__ = ["ENGLISH", "read_stop_words"]

# fmt: off
#: Words so common in English that they say little of what a text is about.
ENGLISH: tuple[str, ...] = (
    "a", "about", "above", "across", "after", "again", "against", "all", "almost", "along",
    "already", "also", "although", "always", "am", "among", "an", "and", "another", "any", "are",
    "around", "as", "at", "be", "because", "been", "before", "being", "below", "between", "both",
    "but", "by", "can", "cannot", "could", "did", "do", "does", "doing", "done", "down", "during",
    "each", "either", "else", "enough", "even", "ever", "every", "few", "for", "from", "further",
    "get", "gets", "got", "had", "has", "have", "having", "he", "her", "here", "hers", "herself",
    "him", "himself", "his", "how", "however", "i", "if", "in", "into", "is", "it", "its",
    "itself", "just", "least", "less", "like", "made", "make", "many", "may", "me", "might",
    "more", "most", "much", "must", "my", "myself", "neither", "never", "no", "nor", "not", "now",
    "of", "off", "often", "on", "once", "one", "only", "onto", "or", "other", "our", "ours",
    "ourselves", "out", "over", "own", "perhaps", "quite", "rather", "same", "shall", "she",
    "should", "since", "so", "some", "still", "such", "than", "that", "the", "their", "theirs",
    "them", "themselves", "then", "there", "these", "they", "this", "those", "though", "through",
    "to", "too", "under", "until", "up", "upon", "us", "very", "was", "we", "were", "what", "when",
    "where", "whether", "which", "while", "who", "whom", "whose", "why", "will", "with", "within",
    "without", "would", "yet", "you", "your", "yours", "yourself", "yourselves",
)
# fmt: on


#: Bytes of the largest file of stop words: all words of a language are fewer.
LARGEST = 2**24


def read_stop_words(path: str | PathLike[str]) -> tuple[str, ...]:
    """The words of a UTF-8 text file with one word a line, sorted, each once.

    Blank lines are skipped. White space around a word does not matter.
    """
    name = fsdecode(path)
    lines = enumerate(_read_text(name).splitlines(), start=1)
    words = {
        _checked_word(line, f"{name}, line {number}") for number, line in lines if line.strip()
    }
    if not words:
        raise SourceError(
            f"the stop words file {name} has no words; write one word a line, or use no stop words"
        )
    return tuple(sorted(words))


def _read_text(name: str) -> str:
    try:
        with open(name, "rb") as file:
            data = file.read(LARGEST + 1)
        if len(data) > LARGEST:
            raise UnreadableError(
                f"the stop words file {name} has more than {LARGEST:,} bytes; "
                "give a text file with one word a line"
            )
        return data.decode("utf-8-sig")
    except FileNotFoundError:
        raise MissingError(
            f"there is no stop words file {name}; give the path of a text file with one word a line"
        ) from None
    except UnicodeDecodeError as error:
        raise UnreadableError(
            f"the stop words file {name} is not UTF-8 at byte {error.start}; save it as UTF-8 text"
        ) from None
    except OSError as error:
        raise UnreadableError(
            f"the stop words file {name} cannot be read: {error.strerror}; "
            "give a text file with one word a line that you may read"
        ) from None


def _checked_word(line: str, where: str) -> str:
    word = line.strip()
    if len(word.split()) > 1:
        raise SourceError(
            f"{where}, is {word!r}: stop words are taken out one by one; write one word a line"
        )
    if not any(c.isalnum() for c in word):
        raise SourceError(
            f"{where}, is {word!r}: it has no letter or digit and would never be found; take it out"
        )
    return word
