"""Splits captions into words as the COCO caption evaluation does, without Java."""

import re
from functools import lru_cache
from itertools import chain

# Tokens that the COCO caption evaluation removes. Brackets stay, because it lists them in upper case and compares them
# with lower-case tokens; so do runs such as "!!".
PUNCTUATIONS = frozenset(
    ["''", "'", "``", "`", "-LRB-", "-RRB-", "-LCB-", "-RCB-", ".", "?", "!", ",", ":", "-", "--", "...", ";"]
)
# Abbreviations, which keep their period: names and titles, addresses, companies and departments, dates, states, others.
# The last line has those that are also words or syllables: they are abbreviations only with a capital.
_ABBREVIATION = r"""
    adm|alex|atty|bros|brig|capt|cmdr|col|comdr|cpl|det|dr|drs|ens|esq|gen|gov|hon|insp|jos|jr|lt|maj|messrs|mlle|mme|mr
    |mrs|ms|pfc|ph|pres|prof|pvt|rep|reps|rev|sen|sens|sfc|sgt|spc|sr|supt|treas|wm
    |ave|bldg|blvd|ct|ext|ft|mt|rd|rt|sq|st|ste|tel
    |assn|assoc|asst|bancorp|cie|co|corp|cos|dept|inc|intl|invt|ltd|mfg|natl|plc|univ
    |jan|feb|mar|apr|jun|jul|aug|sep|sept|oct|nov|dec|mon|tue|tues|wed|thu|thurs|fri
    |ala|ariz|calif|colo|conn|dak|fla|ga|ind|kan|kans|ky|md|mich|minn|mo|mont|neb|nev|okla|penn|tenn|va|vt|wis|wisc|wyo
    |adj|adv|al|cf|est|etc|vs
    |ph\.d
    |(?=(?-i:[A-Z]))(?:ark|del|ill|la|mass|miss|ore|pa|tex|wash)
"""

_COMPOUNDS = {
    "cannot": ("can", "not"),
    "gimme": ("gim", "me"),
    "gonna": ("gon", "na"),
    "gotta": ("got", "ta"),
    "lemme": ("lem", "me"),
    "wanna": ("wan", "na"),
}
# How the lexer spells a character: brackets get names, other marks their ASCII form. U+0080 is the euro sign of
# windows-1252.
_SPELLINGS = {
    **dict.fromkeys(["’’", *'"“”«»'], "''"),
    **dict.fromkeys("‘’‛‹›", "'"),
    **dict.fromkeys(["---", "----", *"–—―"], "--"),  # five are a line, which stays
    **dict.fromkeys("€\x80¤₠", "$"),
    **{ending.replace("'", "’"): ending for ending in ["n't", "'s", "'d", "'m", "'ll", "'re", "'ve"]},
    "&lt;": "<",
    "&gt;": ">",
    "[": "-lsb-",
    "]": "-rsb-",
    "{": "-lcb-",
    "}": "-rcb-",
    "…": "...",
    "£": "#",
    "¢": "cents",
    "¼": "1/4",
    "½": "1/2",
    "¾": "3/4",
    "⅓": "1/3",
    "⅔": "2/3",
}
# Abbreviations that keep their period before a number.
_ABBREVIATIONS = "no. nos. pp. fig. figs. art. op. prop."
_NUMBERED = frozenset([*_ABBREVIATIONS.split(), *_ABBREVIATIONS.title().split()])
# A letter loses its period before these, with a capital.
_LETTER_AND_PERIOD = re.compile(r"[A-Za-z]\.")
_STARTS = """
    a about after an as at but he her here however if in it last many more mr. ms. now once one other our she since so
    some such that the their then there these they this we what when while yet you
"""
_SENTENCE_STARTS = frozenset(_STARTS.split())
# Where one of both may be.
_PERIOD = re.compile(r"(?<!\S)(?:[A-Za-z]|[Nn]os?|[Pp]p|[Ff]igs?|[Aa]rt|[Oo]p|[Pp]rop)\.(?!\S)")
# HTML entities that the lexer reads as what they stand for; AT&amp;T is one word. Others it takes apart.
_ENTITIES = {"&amp;": "&", "&quot;": '"', "&apos;": "'", "&nbsp;": "\xa0", "&mdash;": "—"}
_ENTITY = re.compile("|".join(_ENTITIES))
# Marks that the lexer keeps in a word: accents, and vowel signs of Hebrew, Arabic, Hindi, Thai and others. It was made
# before Unicode knew the rest, which it drops.
_MARKS = (
    r"\u02C2-\u02C5\u02D2-\u02DF\u02E5-\u02EB\u02ED\u02EF-\u036F\u0375\u0378-\u0379\u0384-\u0385\u03F6"
    r"\u0483-\u0487\u055A-\u055F\u0591-\u05BD\u05BF\u05C1-\u05C2\u05C4-\u05C5\u05C7\u0615-\u061A\u064B-\u065E"
    r"\u0670\u06D6-\u06E4\u06E7-\u06ED\u06FD-\u06FE\u070F\u0711\u0730-\u074C\u07A6-\u07B0\u07EB-\u07F3"
    r"\u0900-\u0903\u093C\u093E-\u094E\u0951-\u0955\u0962-\u0963\u0981-\u0983\u09BC\u09BE-\u09C4\u09C7-\u09C8"
    r"\u09CB-\u09CD\u09D7\u09E2-\u09E3\u0A01-\u0A03\u0A3C\u0A3E-\u0A4F\u0A81-\u0A83\u0ABC\u0ABE-\u0ACF\u0B82"
    r"\u0BBE-\u0BC2\u0BC6-\u0BC8\u0BCA-\u0BCD\u0C01-\u0C03\u0C3E-\u0C56\u0D3E-\u0D44\u0D46-\u0D48\u0E31"
    r"\u0E34-\u0E3A\u0E47-\u0E4E\u0EB1\u0EB4-\u0EBC\u0EC8-\u0ECD\u1885-\u1886"
)
# What is a token of its own, of symbols beyond ASCII, and numbers that are no digits.
_SYMBOLS = (
    r"\u0080\u00A1-\u00A9\u00AC\u00AE-\u00B4\u00B6-\u00B9\u00BC-\u00BF\u00D7\u00F7\u037E\u0387\u0589\u05BE\u05C0"
    r"\u05C3\u05C6\u05F3-\u05F4\u0600-\u0603\u0606-\u060C\u061B\u061E-\u061F\u066A\u066D\u06D4\u0700-\u070D"
    r"\u07F6-\u07F8\u0964-\u0965\u0E3F\u0E4F\u1FBD\u2016-\u2017\u201A\u201E-\u2023\u2030-\u2038\u203B"
    r"\u203E-\u2042\u2044\u2070\u2074-\u208E\u20A0\u20A4\u20AC\u2100-\u2101\u2103-\u2106\u2108-\u2109\u2114"
    r"\u2116-\u2118\u211E-\u2123\u2125\u2127\u2129\u212E\u213A-\u213B\u2140-\u2144\u214A-\u214D\u214F"
    r"\u2153-\u215E\u2190-\u2775\u2776-\u2BFF\u3001-\u3002\u3012\u30FB\uFF01-\uFF0F\uFF1A-\uFF20\uFF3B-\uFF40"
    r"\uFF5B-\uFF65\uFFE0-\uFFE1\uFFE5-\uFFE6"
)
# Letters and digits, with marks. The lexer has no characters beyond the basic plane.
_LETTER = r"[^\W\d_\U00010000-\U0010ffff]"
_ALNUM = rf"(?:[A-Za-z0-9]|(?![{_SYMBOLS}])[^\W\x00-\x7f\U00010000-\U0010ffff]|[{_MARKS}])"
_WORD = rf"{_LETTER}{_ALNUM}*"
_CLITIC = rf"['’](?i:[sdm]|ll|re|ve)(?!{_LETTER})"

# Tokens in a word between white space. The lexer takes the longest alternative, a regular expression the first: their
# order matters. Characters without an alternative are dropped: emoji, control and formatting characters.
_TOKEN = re.compile(
    rf"""
    # A quotation mark of two apostrophes; addresses, user names, hash tags, markup.
      ['’]{{2}} | https?://[^\s"<>|()]*[^\s"<>|().,;:!?'] | [A-Za-z0-9][\w.+-]{{0,63}}@\w[\w-]*(?:\.\w[\w-]*)*
    | [@\#][A-Za-z]\w* | </?[A-Za-z]\w*> | &\#\d+; | &[lg]t;

    # 'n', 'em, '90s, and 't of 'tis.
    | ['’][nN]['’] | ['’](?i:n|em|till?|cause)(?!{_ALNUM})
    | ['’]\d\ds?(?!{_ALNUM}|['’]) | ['’][tT](?=(?i:is|was)(?!{_ALNUM}))
    # n't leaves its verb, which cannot end in another n; 's and the like leave any word.
    | [A-Za-z]*[A-MO-Za-mo-z](?=[nN]['’][tT]) | [nN]['’][tT][A-Za-z]* | {_CLITIC}
    # Apostrophes that stay: o'clock, d'ye; between vowels, as in ma'am and Hawai'i; Dunkin', ol', y' of y'all.
    | (?!{_WORD}{_CLITIC})(?:
        [dolDOL]['’][A-Za-z]{{2,}} | [A-Za-z]+[aeiouyAEIOUY]['’][aeiouAEIOU][A-Za-z]*
        | (?i:dunkin|somethin|ol|[djly])['’]
      )

    # U.S., J.R.R., st., and what a hyphen ties to them, as in non-u.s. and st.-like.
    | (?:(?:{_ALNUM}+-)*(?:[A-Za-z]\.){{2,}}|[A-Za-z]\.|(?i:{_ABBREVIATION})\.)(?!{_LETTER})(?:-{_ALNUM}+)*
    # Any word keeps its period before a comma, colon or semicolon.
    | {_ALNUM}+(?:-{_ALNUM}+)*\.(?=[,;:])

    # 11:59, 1,000, 3.5-inch, -3, .5: separate from letters that follow, as in 10:30am.
    | \d+(?:[.,:]\d+)+(?:-[A-Za-z]\w*)* | [+-]\d+(?:[.,:/]\d+)* | (?<!\.)[.,:]\d+(?:[.,:]\d+)*

    # stove/oven; street.The, as a mark between letters does not end a word, nor a comma before a hyphen; AT&T; T-shirt.
    | {_ALNUM}+(?:-{_ALNUM}+)*(?:/{_ALNUM}+(?:-{_ALNUM}+)*)+
    | {_WORD}(?:[.,]{_ALNUM}*)+(?:-{_ALNUM}+)+ | {_WORD}(?:[.!?]{_WORD})+
    | [A-Z]+&[A-Z]+ | [cC](?:\+\+|\#)
    | {_ALNUM}+(?:[-_\u2010\u2011]{_ALNUM}+)*

    # :-), runs that are one token, and single symbols.
    | [:;=]-?[()DP](?!{_ALNUM}) | [!?]{{2,}} | -{{2,}} | \*+ | _+ | << | >>
    | [!-~{_SYMBOLS}]
    """,
    re.VERBOSE,
)


@lru_cache(maxsize=1 << 16)
def _tokens_of_word(word: str) -> tuple[str, ...]:
    """Lower-case tokens of a word without white space, except PUNCTUATIONS."""
    tokens: list[str] = []
    plain = _ENTITY.sub(lambda entity: _ENTITIES[entity[0]], word.replace("\u00ad", ""))
    for match in _TOKEN.findall(plain):
        token = match.lower()
        if token in _COMPOUNDS:
            tokens += _COMPOUNDS[token]
        else:
            tokens.append(_SPELLINGS.get(token, token).replace("(", "-lrb-").replace(")", "-rrb-"))
    return tuple(token for token in tokens if token not in PUNCTUATIONS)


def tokenize(caption: str, following: str = "") -> list[str]:
    """The words of a caption, in lower case and without punctuation; none if there is only punctuation.

    Like pycocoevalcap's `PTBTokenizer`: the Penn Treebank lexer of Stanford CoreNLP 3.4.1 (`-preserveLines -lowerCase`)
    without `PUNCTUATIONS`. The lexer takes "a P. The" for the end of a sentence, also where "The" begins the next
    caption, of which `following` is the first word. "1 1/2" is two tokens, and markup with spaces several; scorers,
    which split at white space, see two as well.
    """
    words = caption.split()
    if "." in caption and _PERIOD.search(caption):
        return list(chain.from_iterable(map(_tokens_before, words, [*words[1:], following])))
    return list(chain.from_iterable(map(_tokens_of_word, words)))


def _tokens_before(word: str, following: str) -> tuple[str, ...]:
    """The tokens of a word whose period may depend on the next word."""
    if word in _NUMBERED and following[:1].isdigit():
        return (word.lower(),)
    if _LETTER_AND_PERIOD.fullmatch(word) and following[:1].isupper() and following.lower() in _SENTENCE_STARTS:
        return (word[0].lower(),)
    return _tokens_of_word(word)
