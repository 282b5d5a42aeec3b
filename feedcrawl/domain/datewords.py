"""Words and forms of dates in feeds: months and weekdays in the languages of publishers, zones, halves of the day.

Months and weekdays come from CLDR (nominative and genitive where they differ), zones from RFC 822 section 5.1 and from
common abbreviations. An ambiguous zone abbreviation has the offset of its most frequent use.
"""
# ruff: noqa: RUF001, RUF003 -- Greek and Cyrillic words look like Latin ones

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict

_MONTHS = {
    "en": "january february march april may june july august september october november december",
    "de": "januar februar märz april mai juni juli august september oktober november dezember",
    "de-at": "jänner feber märz april mai juni juli august september oktober november dezember",
    "fr": "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
    "es": "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    "it": "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
    "pt": "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
    "ca": "gener febrer març abril maig juny juliol agost setembre octubre novembre desembre",
    "nl": "januari februari maart april mei juni juli augustus september oktober november december",
    "sv": "januari februari mars april maj juni juli augusti september oktober november december",
    "da": "januar februar marts april maj juni juli august september oktober november december",
    "fi": "tammikuu helmikuu maaliskuu huhtikuu toukokuu kesäkuu heinäkuu elokuu syyskuu lokakuu marraskuu joulukuu",
    "pl": "styczeń luty marzec kwiecień maj czerwiec lipiec sierpień wrzesień październik listopad grudzień",
    "pl-gen": "stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października listopada grudnia",
    "cs": "leden únor březen duben květen červen červenec srpen září říjen listopad prosinec",
    "cs-gen": "ledna února března dubna května června července srpna září října listopadu prosince",
    "hu": "január február március április május június július augusztus szeptember október november december",
    "ro": "ianuarie februarie martie aprilie mai iunie iulie august septembrie octombrie noiembrie decembrie",
    "tr": "ocak şubat mart nisan mayıs haziran temmuz ağustos eylül ekim kasım aralık",
    "id": "januari februari maret april mei juni juli agustus september oktober november desember",
    "el": "ιανουάριος φεβρουάριος μάρτιος απρίλιος μάιος ιούνιος ιούλιος αύγουστος"
    " σεπτέμβριος οκτώβριος νοέμβριος δεκέμβριος",
    "el-gen": "ιανουαρίου φεβρουαρίου μαρτίου απριλίου μαΐου ιουνίου ιουλίου αυγούστου"
    " σεπτεμβρίου οκτωβρίου νοεμβρίου δεκεμβρίου",
    "ru": "январь февраль март апрель май июнь июль август сентябрь октябрь ноябрь декабрь",
    "ru-gen": "января февраля марта апреля мая июня июля августа сентября октября ноября декабря",
    "uk": "січень лютий березень квітень травень червень липень серпень вересень жовтень листопад грудень",
    "uk-gen": "січня лютого березня квітня травня червня липня серпня вересня жовтня листопада грудня",
    "bg": "януари февруари март април май юни юли август септември октомври ноември декември",
}
_SPELLINGS = {"sept": 9, "ene": 1, "dic": 12, "genn": 1, "mrt": 3, "abr": 4, "août": 8, "ιουν": 6, "ιουλ": 7, "ιούν": 6}

_WEEKDAYS = """
    monday tuesday wednesday thursday friday saturday sunday tues weds thur thurs
    montag dienstag mittwoch donnerstag freitag samstag sonnabend sonntag
    lundi mardi mercredi jeudi vendredi samedi dimanche
    lunes martes miércoles jueves viernes sábado domingo
    lunedì martedì mercoledì giovedì venerdì sabato domenica
    segunda terça quarta quinta sexta feira
    dilluns dimarts dimecres dijous divendres dissabte diumenge
    maandag dinsdag woensdag donderdag vrijdag zaterdag zondag
    måndag tisdag onsdag torsdag fredag lördag söndag mandag tirsdag lørdag søndag
    maanantai tiistai keskiviikko torstai perjantai lauantai sunnuntai
    poniedziałek wtorek środa czwartek piątek sobota niedziela
    pondělí úterý středa čtvrtek pátek neděle
    hétfő kedd szerda csütörtök péntek szombat vasárnap
    luni marți miercuri joi vineri sâmbătă duminică
    pazartesi salı çarşamba perşembe cuma cumartesi pazar
    senin selasa rabu kamis jumat sabtu minggu
    δευτέρα τρίτη τετάρτη πέμπτη παρασκευή σάββατο κυριακή
    понедельник вторник среда четверг пятница суббота воскресенье
    понеділок вівторок середа п'ятниця субота неділя
    понеделник сряда четвъртък петък събота
"""
_SHORT_WEEKDAYS = (
    "mo di mi do fr sa so wo vr za zo lu ma me je ve gi пн вт ср чт пт сб вс нд κυρ δευ τρι τετ πεμ παρ σαβ"
)

# Words between the parts of a date ("4 de julio de 2024", "le 1er juin", "July 4th at 10:00", "5 мая 2024 г.").
_FILLERS = "at on the of de del le el er st nd rd th um uhr a г года t"

_AM, _PM = "am 오전 上午 午前 πμ", "pm 오후 下午 午後 μμ"

_HOURS = {
    "ut": 0, "utc": 0, "gmt": 0, "z": 0, "wet": 0, "west": 1, "bst": 1, "ist": 5.5,
    "cet": 1, "cest": 2, "met": 1, "mest": 2, "mez": 1, "mesz": 2, "eet": 2, "eest": 3, "msk": 3, "msd": 4, "trt": 3,
    "sast": 2, "cat": 2, "eat": 3, "wat": 1, "gst": 4, "pkt": 5, "wib": 7, "ict": 7,
    "sgt": 8, "hkt": 8, "pht": 8, "awst": 8, "jst": 9, "kst": 9, "acst": 9.5, "acdt": 10.5,
    "aest": 10, "aedt": 11, "nzst": 12, "nzdt": 13,
    "nst": -3.5, "ndt": -2.5, "brt": -3, "art": -3, "clt": -4,
    "at": -4, "ast": -4, "adt": -3, "et": -5, "est": -5, "edt": -4, "ct": -6, "cst": -6, "cdt": -5,
    "mt": -7, "mst": -7, "mdt": -6, "pt": -8, "pst": -8, "pdt": -7, "akst": -9, "akdt": -8, "hst": -10,
}  # fmt: skip
ZONES = {name: round(hours * 60) for name, hours in _HOURS.items()}


def fold(word: str) -> str:
    """A word without case, accents and final dot, as in the keys of the tables."""
    decomposed = unicodedata.normalize("NFKD", word.casefold())
    return "".join(char for char in decomposed if not unicodedata.combining(char)).rstrip(".")


def _month_table() -> dict[str, int]:
    """Month by folded name and by each unambiguous prefix of at least three letters; English takes precedence."""
    meanings: dict[str, set[int]] = defaultdict(set)
    exact: dict[str, int] = {}
    for language, names in _MONTHS.items():
        for number, name in enumerate(map(fold, names.split()), 1):
            exact.setdefault(name, number)
            for length in range(3, len(name) + 1):
                if language == "en":
                    exact.setdefault(name[:length], number)
                meanings[name[:length]].add(number)
    unique = {prefix: months.pop() for prefix, months in meanings.items() if len(months) == 1}
    return unique | {fold(word): number for word, number in _SPELLINGS.items()} | exact


MONTHS = _month_table()
WEEKDAYS = frozenset(_SHORT_WEEKDAYS.split()) | {
    name[:length]
    for name in map(fold, _WEEKDAYS.split())
    for length in range(3, len(name) + 1)
    if name[:length] not in MONTHS
}
FILLERS = frozenset(_FILLERS.split())
DAY_HALVES = {fold(word): hours for hours, words in ((0, _AM), (12, _PM)) for word in words.split()}


_JSON_DATE = re.compile(r"\\?/Date\((\d{9,14})(?:[+-]\d{4})?\)\\?/", re.ASCII)
_AFTER_OFFSET = re.compile(r"(?<=[\dZz])((?:[+-]\d\d:?\d\d|[Zz]))(?:\[!?[\w/=+-]+\])+\Z", re.ASCII)
_ZONE_IN_BRACKETS = re.compile(r"(?<=\d)\[([A-Z]\w+(?:/[\w+-]+)+)\]\Z", re.ASCII)
_DOTTED_CLOCK = re.compile(
    r"(?P<date>(?:\d{4}[-/.]\d\d?[-/.]\d\d?[ T]+|\d\d?[-/.]\d\d?[-/.]\d{4},?[ ]+"
    r"|[a-z.]{3,}[ ](?:\d\d?,[ ])?\d{4},?[ ]+)(?:(?:at|um|klo?)\.?[ ]+)?)"
    r"(?P<hour>\d\d?)\.(?P<minute>\d\d)(?:\.(?P<second>\d\d))?(?![.\d])",
    re.ASCII | re.IGNORECASE,
)


_ASCII_FORMS = dict(zip(map(ord, "０１２３４５６７８９：／．－−"), "0123456789:/.--", strict=True))
_DAY_WITH_ZONE = re.compile(r"(\d{4}-\d\d-\d\d)(\+\d\d:\d\d)", re.ASCII)
_GO_REST = re.compile(r"(?:(?<= [+-]\d{4}) [+-]\d\d(?:\d\d)?)?(?: m=[+-][\d.]+)?$", re.ASCII)


def usual_form(text: str) -> str:
    """A date with unusual notations replaced by common ones; other texts unchanged.

    Digits of full width and the minus sign; days with a zone (XML Schema `date`); the second zone and the monotonic
    clock that Go prints; zones in brackets after a time (RFC 9557, Java's ZonedDateTime); clocks with dots (`10.30.00`)
    after a date; `/Date(1783333800000)/` of .NET, whose number is Unix time in milliseconds.
    """
    if not text.isascii():
        text = text.translate(_ASCII_FORMS)
    if text[4:5] == "-":
        text = _GO_REST.sub("", _DAY_WITH_ZONE.sub(r"\1T00:00\2", text))
    if text.endswith("]"):
        bare = _AFTER_OFFSET.sub(r"\1", text)
        return bare if bare != text else _ZONE_IN_BRACKETS.sub(r" \1", text)
    if found := _JSON_DATE.fullmatch(text):
        return found[1]
    return _DOTTED_CLOCK.sub(_with_colons, text, count=1) if "." in text else text


def _with_colons(found: re.Match[str]) -> str:
    clock = (found["hour"], found["minute"], found["second"])
    return found["date"] + ":".join(filter(None, clock))
