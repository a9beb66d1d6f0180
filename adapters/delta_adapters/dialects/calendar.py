"""Write days and microseconds as text, without the limits of `datetime`: any year, proleptic Gregorian."""

from __future__ import annotations

DAY = 86_400_000_000
FIRST_DAY, LAST_DAY = (
    -719_162,
    2_932_896,
)  # 0001-01-01 and 9999-12-31: every engine's literals can express these


def date_text(days: int) -> str:
    """Return days since the epoch as YYYY-MM-DD."""
    year, month, day = _civil(days)
    return f"{'-' if year < 0 else ''}{abs(year):04}-{month:02}-{day:02}"


def timestamp_text(micros: int) -> str:
    """Return microseconds since the epoch as YYYY-MM-DD HH:MM:SS.ffffff, without a zone."""
    days, rest = divmod(micros, DAY)
    seconds, fraction = divmod(rest, 1_000_000)
    return f"{date_text(days)} {seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}.{fraction:06}"


def has_four_digit_year(days: int) -> bool:
    """Whether the year of a day has four digits, as literals require."""
    return FIRST_DAY <= days <= LAST_DAY


def _civil(days: int) -> tuple[int, int, int]:
    """Return year, month and day by the 400-year cycle, counted from 0000-03-01."""
    era, day_of_era = divmod(days + 719_468, 146_097)
    year_of_era = (day_of_era - day_of_era // 1_460 + day_of_era // 36_524 - day_of_era // 146_096) // 365
    day_of_year = day_of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    shifted = (5 * day_of_year + 2) // 153
    month = shifted + 3 if shifted < 10 else shifted - 9
    return year_of_era + era * 400 + (month <= 2), month, day_of_year - (153 * shifted + 2) // 5 + 1
