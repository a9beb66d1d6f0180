"""Convert between calendar days, instants and the local time of a zone.

Days belong to the proleptic Gregorian calendar. Python's dates end at the years 1 and 9999, Delta's do not. Beyond
these years, the functions compute with an equivalent year inside them: the calendar repeats every 400 years.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, tzinfo

EPOCH_DAY = date(1970, 1, 1).toordinal()
MICROS_A_SECOND = 1_000_000
MICROS_A_DAY = 86_400 * MICROS_A_SECOND
_CYCLE_DAYS = 146_097  # of 400 years
_CYCLE = _CYCLE_DAYS * 86_400
_FIRST, _LAST = (
    -62_135_596_800 + 86_400,
    253_402_214_400,
)  # seconds that Python's calendar knows in every zone


def days_from_civil(year: int, month: int, day: int) -> int:
    """Return the days since 1970-01-01 of a calendar day, for any year. Raises ValueError for no such day."""
    cycles = (year - 2000) // 400
    return date(year - cycles * 400, month, day).toordinal() - EPOCH_DAY + cycles * _CYCLE_DAYS


def to_utc(micros: int, zone: tzinfo) -> int:
    """Return the instant at which the clocks of a zone show these local microseconds."""
    if zone is UTC:
        return micros
    return micros - _offset(micros, zone, local=True) * MICROS_A_SECOND


def to_local(micros: int, zone: tzinfo) -> int:
    """Return the local microseconds that the clocks of a zone show at an instant."""
    if zone is UTC:
        return micros
    return micros + _offset(micros, zone, local=False) * MICROS_A_SECOND


def _offset(micros: int, zone: tzinfo, *, local: bool) -> int:
    """The seconds by which a zone is ahead of UTC, at local microseconds or at an instant."""
    seconds = micros // MICROS_A_SECOND
    if not _FIRST <= seconds <= _LAST:
        seconds -= (seconds - 946_684_800) // _CYCLE * _CYCLE
    moment = datetime.fromtimestamp(seconds, UTC)
    delta = moment.replace(tzinfo=zone).utcoffset() if local else moment.astimezone(zone).utcoffset()
    return 0 if delta is None else round(delta.total_seconds())
