/** Numbers as records and reports hold them. JSON knows no NaN and no infinity: what could not be measured travels as null. */
import * as v from 'valibot';

const PAYMENT = 'Expected a number from -1e9 to 1e9';

/** A finite number. JSON has no infinity, but JSON.parse reads 1e400 as one. */
export const finite = v.pipe(v.number(), v.finite());
/** 0, 1, 2, … */
export const count = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
/** 1, 2, 3, … */
export const positive = v.pipe(v.number(), v.safeInteger(), v.minValue(1));
/** Measured, or null where there was nothing to measure: not measured is not zero. */
export const measured = v.nullable(finite);
/** A computed figure as reports hold it: one that came to no finite number could not be measured. */
export const measuredOf = (figure: number): number | null => (Number.isFinite(figure) ? figure : null);
/**
 * The largest reward, in absolute value. Its square, and the square of a gradient that it scales, still fit float32 (3.4e38), and so do
 * their sums over a round.
 */
export const MOST_REWARD = 1e9;
/** Is it a number that may be paid? */
export const isPayment = (value: unknown): value is number =>
  typeof value === 'number' && Math.abs(value) <= MOST_REWARD;
/** What an agent, an environment or a service pays. */
export const payment = v.pipe(
  v.number(PAYMENT),
  v.finite(PAYMENT),
  v.minValue(-MOST_REWARD, PAYMENT),
  v.maxValue(MOST_REWARD, PAYMENT),
);
/**
 * The least log-probability that a token can have been drawn with, nats: e^-104 is less than half of the smallest float32 above 0, and a sum of
 * at most 2^24 terms, none above 1, divides it by no more than e^17.
 */
export const LEAST_LOGPROB = -128;
/** Further figures by name. */
export const figures = v.record(v.string(), measured);
/** A sha256 in hex. */
export const hash = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/, 'Expected 64 hexadecimal digits'));
