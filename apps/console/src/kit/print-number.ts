const whole = new Intl.NumberFormat(undefined, { maximumFractionDigits: 0 });
const precise = new Intl.NumberFormat(undefined, { maximumSignificantDigits: 3 });

/** Formats a number: without decimals if the number is at least 100, otherwise with up to three significant digits. */
export function printNumber(value: number): string {
  return Math.abs(value) >= 100 ? whole.format(value) : precise.format(value);
}

/** Formats a count with a noun that takes `s` in the plural: `1 viewer`, `0 viewers`. */
export function printCount(count: number, noun: string): string {
  return `${printNumber(count)} ${noun}${count === 1 ? '' : 's'}`;
}

const byteUnits = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];

/** Formats a size: `187 MiB`. */
export function printBytes(bytes: number): string {
  const unit = Math.max(0, Math.min(byteUnits.length - 1, Math.floor(Math.log2(Math.max(bytes, 1)) / 10)));
  return `${printNumber(bytes / 1_024 ** unit)} ${byteUnits[unit]}`;
}

const durations = [
  ['d', 86_400],
  ['h', 3_600],
  ['min', 60],
  ['s', 1],
] as const;

/** Formats seconds in the two largest units: `3 d 4 h`. */
export function printDuration(seconds: number): string {
  let rest = Math.max(0, Math.round(seconds));
  const parts = durations.flatMap(([unit, size]) => {
    const count = Math.floor(rest / size);
    rest -= count * size;
    return count > 0 ? [`${count} ${unit}`] : [];
  });
  return parts.slice(0, 2).join(' ') || '0 s';
}
