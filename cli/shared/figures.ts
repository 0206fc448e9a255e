/** Formats figures for people, in one place so that the progress lines and the closing words agree. A missing figure is "–", never 0. */

export const MISSING = '–';

type Figure = number | null | undefined;

const written = (value: Figure, write: (value: number) => string): string =>
  value === null || value === undefined || !Number.isFinite(value) ? MISSING : write(value);

/** A share in [0, 1] as "34.2 %". */
export const percent = (share: Figure, digits = 0): string =>
  written(share, (value) => `${(100 * value).toFixed(digits)} %`);

/** A difference of two shares in percentage points, always signed: "+37.2", "−1.0", "±0.0". */
export const points = (difference: Figure): string =>
  written(difference, (value) => {
    const size = Math.abs(100 * value).toFixed(1);
    return `${size === '0.0' ? '±' : value < 0 ? '−' : '+'}${size}`;
  });

export const decimal = (value: Figure, digits = 2): string =>
  written(value, (figure) => figure.toFixed(digits).replace(/^-/, '−'));

/** A whole number with thin spaces between thousands, as in "12 480". */
export const whole = (value: Figure): string =>
  written(value, (figure) => String(Math.round(figure)).replace(/\B(?=(\d{3})+$)/g, ' '));

/** Milliseconds as "0.8 s", "41 s" or "3:07 min". */
export const duration = (ms: Figure): string =>
  written(ms, (value) => {
    const seconds = value / 1000;
    if (seconds < 9.95) return `${seconds.toFixed(1)} s`;
    const whole = Math.round(seconds);
    if (whole < 60) return `${whole} s`;
    return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')} min`;
  });

/** Dollars with two significant digits, since sums begin at fractions of a cent: "$0.0031", "$2.4", "$17". */
export const dollars = (value: Figure): string =>
  written(
    value,
    (sum) =>
      `$${sum === 0 ? '0' : Number(sum.toPrecision(2)).toFixed(Math.max(0, 1 - Math.floor(Math.log10(sum))))}`,
  );
