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
    **dict.fromkeys("€\x80", "$"),
    **{ending.replace("'", "’"): ending for ending in ["n't", "'s", "'d", "'m", "'ll", "'re", "'ve"]},
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
}
# Letters and digits, with combining accents. The lexer has no characters beyond the basic plane, and treats
# superscripts and fractions such as ½ as symbols.
_LETTER = r"[^\W\d_\U00010000-\U0010ffff]"
_ALNUM = r"(?:[^\W_²³¹¼½¾\U00010000-\U0010ffff]|[\u0300-\u036f])"
_WORD = rf"{_LETTER}{_ALNUM}*"
_CLITIC = rf"['’](?i:[sdm]|ll|re|ve)(?!{_LETTER})"

# Tokens in a word between white space. The lexer takes the longest alternative, a regular expression the first: their
# order matters. Characters without an alternative are dropped: emoji, control and formatting characters.
_TOKEN = re.compile(
    rf"""
    # A quotation mark of two apostrophes; addresses, user names, hash tags, markup.
      ['’]{{2}} | https?://[^\s"<>|()]*[^\s"<>|().,;:!?'] | [A-Za-z0-9][\w.+-]{{0,63}}@\w[\w-]*(?:\.\w[\w-]*)*
    | [@\#][A-Za-z]\w* | </?[A-Za-z]\w*>

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
    | {_ALNUM}+(?:[-_]{_ALNUM}+)*

    # :-), runs that are one token, and single symbols.
    | [:;=]-?[()DP](?!{_ALNUM}) | [!?]{{2,}} | -{{2,}} | \*+ | _+ | << | >>
    | (?![\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2010-\u2012])[!-~\x80¡-\u2bff\u3001-\u303f]
    """,
    re.VERBOSE,
)


@lru_cache(maxsize=1 << 16)
def _tokens_of_word(word: str) -> tuple[str, ...]:
    """Lower-case tokens of a word without white space, except PUNCTUATIONS."""
    tokens: list[str] = []
    for match in _TOKEN.findall(word.replace("\u00ad", "")):
        token = match.lower()
        if token in _COMPOUNDS:
            tokens += _COMPOUNDS[token]
        else:
            tokens.append(_SPELLINGS.get(token, token).replace("(", "-lrb-").replace(")", "-rrb-"))
    return tuple(token for token in tokens if token not in PUNCTUATIONS)


def tokenize(caption: str) -> list[str]:
    """The words of a caption, in lower case and without punctuation; none if there is only punctuation.

    Like pycocoevalcap's `PTBTokenizer`: the Penn Treebank lexer of Stanford CoreNLP 3.4.1 (`-preserveLines -lowerCase`)
    without `PUNCTUATIONS`. Here each word between white space is split alone, so tokens differ where the lexer looks at
    the next word, even of the next caption: "no. 5" loses its period, "I. The" keeps it, markup with spaces becomes
    several tokens. "1 1/2" is two tokens; scorers, which split at white space, see two as well.
    """
    return list(chain.from_iterable(map(_tokens_of_word, caption.split())))
