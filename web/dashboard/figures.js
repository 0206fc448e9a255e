/** Formats the page's figures. A missing figure is "–", never 0. Spaces inside a figure are narrow and never break. */

export const MISSING = '–';
const THIN = '\u202f';

/** @typedef {number | null | undefined} Figure */

/**
 * What rounds to 0 has no sign.
 * @param {Figure} value
 * @param {(value: number) => string} write
 */
const written = (value, write) =>
  value === null || value === undefined || !Number.isFinite(value)
    ? MISSING
    : write(value)
        .replace(/^-(?=[0.]*(?:[^\d.]|$))/, '')
        .replace(/^-/, '−');

/** @param {Figure} value */
export const percent = (value, digits = 0) =>
  written(value, (share) => `${(100 * share).toFixed(digits)}${THIN}%`);

/** @param {Figure} value */
export const points = (value) =>
  written(value, (difference) => {
    const size = Math.abs(100 * difference).toFixed(1);
    return `${size === '0.0' ? '±' : difference < 0 ? '−' : '+'}${size}`;
  });

/** @param {Figure} value */
export const decimal = (value, digits = 2) => written(value, (figure) => figure.toFixed(digits));

/** Three significant digits, for figures of any size. @param {Figure} value */
export const significant = (value) =>
  written(value, (figure) =>
    figure !== 0 && (Math.abs(figure) < 1e-3 || Math.abs(figure) >= 1e5)
      ? figure.toExponential(1)
      : Number(figure.toPrecision(3)).toString(),
  );

/** @param {Figure} value */
export const whole = (value) =>
  written(value, (figure) => String(Math.round(figure)).replace(/\B(?=(\d{3})+$)/g, THIN));

/** @param {Figure} ms */
export const duration = (ms) =>
  written(ms, (value) => {
    const seconds = value / 1000;
    if (seconds < 9.95) return `${seconds.toFixed(1)}${THIN}s`;
    if (seconds < 59.5) return `${Math.round(seconds)}${THIN}s`;
    const minutes = Math.round(seconds / 60);
    if (seconds < 3570)
      return `${Math.floor(Math.round(seconds) / 60)}:${String(Math.round(seconds) % 60).padStart(2, '0')}${THIN}min`;
    return `${Math.floor(minutes / 60)}${THIN}h${THIN}${minutes % 60}${THIN}min`;
  });

/** @param {Figure} bytes */
export const size = (bytes) =>
  written(bytes, (value) =>
    value < 1e6 ? `${(value / 1e3).toFixed(0)}${THIN}kB` : `${(value / 1e6).toFixed(1)}${THIN}MB`,
  );

/** Local time of a moment in ms since 1970. @param {Figure} at */
export const moment = (at) =>
  written(at, (ms) =>
    new Date(ms).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'medium', hour12: false }),
  );

/** @param {number} n @param {string} one @param {string} [many] */
export const counted = (n, one, many = `${one}s`) => `${whole(n)} ${n === 1 ? one : many}`;

/** Two significant digits, for sums from fractions of a cent: "$0.0031". @param {Figure} value */
export const dollars = (value) =>
  written(value, (sum) =>
    sum > 0 ? `$${Number(sum.toPrecision(2)).toFixed(Math.max(0, 1 - Math.floor(Math.log10(sum))))}` : '$0',
  );

/** A figure's name as words: "approvalGap" becomes "approval gap", "stepF1" "step F1", "greedy-1" stays. @param {string} name */
export const humanised = (name) =>
  name
    .replace(/([a-z0-9])([A-Z])(?=[a-z])/g, (_, before, after) => `${before} ${after.toLowerCase()}`)
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .replaceAll('/', ' / ');

/**
 * What a recipe’s own figure means; undefined where the recipe does not say. A name explains the names that continue it after a dot, too.
 * @param {Readonly<Record<string, string>>} meanings by the figure’s name
 * @param {string} name
 * @returns {string | undefined}
 */
export function meaningOf(meanings, name) {
  const dot = name.lastIndexOf('.');
  return Object.hasOwn(meanings, name)
    ? meanings[name]
    : dot < 0
      ? undefined
      : meaningOf(meanings, name.slice(0, dot));
}
