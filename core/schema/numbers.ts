/** Numbers as records and reports hold them. JSON knows no NaN and no infinity: what could not be measured travels as null. */
import * as v from 'valibot';

/** 0, 1, 2, … */
export const count = v.pipe(v.number(), v.integer(), v.minValue(0));
/** 1, 2, 3, … */
export const positive = v.pipe(v.number(), v.integer(), v.minValue(1));
/** Measured, or null where there was nothing to measure: not measured is not zero. */
export const measured = v.nullable(v.number());
/** Further figures by name. */
export const figures = v.record(v.string(), measured);
/** A sha256 in hex. */
export const hash = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/, 'Expected 64 hexadecimal digits'));
