/** Sets of real numbers as unions of intervals, from intervals, inequalities in one variable, sets of points, and what joins them. */
import Fraction from 'fraction.js';
import { equalExpressions, numericValue } from './expressions.ts';
import type { Expression, MathAnswer, Relation } from './tree.ts';
import { variablesOf } from './value.ts';

interface End {
  readonly value: number;
  /** null at infinity. */
  readonly node: Expression | null;
  readonly closed: boolean;
}
interface Interval {
  readonly low: End;
  readonly high: End;
}

export interface Region {
  /** What is in the set, where inequalities say so. */
  readonly variable: string | null;
  /** Disjoint, in their order. */
  readonly intervals: readonly Interval[];
}

const BELOW: End = { value: Number.NEGATIVE_INFINITY, node: null, closed: false };
const ABOVE: End = { value: Number.POSITIVE_INFINITY, node: null, closed: false };
const REALS: Interval = { low: BELOW, high: ABOVE };

/** Where two ends are: equal ones are found by their expressions, since doubles do not tell. */
function compare(a: End, b: End): number {
  if (a.node && b.node && equalExpressions(a.node, b.node) === true) return 0;
  return a.value < b.value ? -1 : a.value > b.value ? 1 : 0;
}

function isEmpty({ low, high }: Interval): boolean {
  const order = compare(low, high);
  return order > 0 || (order === 0 && !(low.closed && high.closed));
}

/** Intervals joined where they meet. */
function merged(intervals: readonly Interval[]): Interval[] {
  const sorted = intervals
    .filter((one) => !isEmpty(one))
    .sort((a, b) => compare(a.low, b.low) || Number(b.low.closed) - Number(a.low.closed));
  const out: Interval[] = [];
  for (const one of sorted) {
    const last = out.at(-1);
    const order = last ? compare(last.high, one.low) : -1;
    if (!last || order < 0 || (order === 0 && !last.high.closed && !one.low.closed)) out.push(one);
    else {
      const end = compare(last.high, one.high);
      const high = end > 0 || (end === 0 && last.high.closed) ? last.high : one.high;
      out[out.length - 1] = { low: last.low, high };
    }
  }
  return out;
}

const later = (a: End, b: End): End => {
  const order = compare(a, b);
  return order > 0 || (order === 0 && !a.closed) ? a : b;
};
const sooner = (a: End, b: End): End => {
  const order = compare(a, b);
  return order < 0 || (order === 0 && !a.closed) ? a : b;
};

const intersection = (a: readonly Interval[], b: readonly Interval[]): Interval[] =>
  merged(a.flatMap((x) => b.map((y) => ({ low: later(x.low, y.low), high: sooner(x.high, y.high) }))));

const opposite = (end: End): End => ({ ...end, closed: !end.closed });

function complement(intervals: readonly Interval[]): Interval[] {
  return intervals.reduce(
    (left: Interval[], { low, high }) =>
      intersection(left, [
        ...(low.node ? [{ low: BELOW, high: opposite(low) }] : []),
        ...(high.node ? [{ low: opposite(high), high: ABOVE }] : []),
      ]),
    [REALS],
  );
}

/** An end from an expression: a real constant, or infinity with a sign. */
function endOf(node: Expression, closed: boolean): End | null {
  const infinite = (of: Expression): boolean => of.op === 'symbol' && of.name === 'infinity';
  if (infinite(node)) return ABOVE;
  if (node.op === 'negate' && infinite(node.of)) return BELOW;
  const value = numericValue(node);
  return value === null || !Number.isFinite(value) ? null : { value, node, closed };
}

const point = (end: End): Interval => ({ low: { ...end, closed: true }, high: { ...end, closed: true } });

type Condition = { readonly variable: string; readonly sign: Relation; readonly end: End };

const REVERSED: Partial<Record<Relation, Relation>> = {
  '<': '>',
  '≤': '≥',
  '>': '<',
  '≥': '≤',
  '≠': '≠',
  '=': '=',
};

/** c and a of |x − c|, |x + c| and |x|; null of others. */
function centreOf(node: Expression): { readonly variable: string; readonly centre: Expression } | null {
  if (node.op !== 'call' || node.name !== 'abs') return null;
  const { of } = node;
  const zero: Expression = { op: 'number', value: new Fraction(0) };
  if (of.op === 'symbol' && variablesOf(of).size > 0) return { variable: of.name, centre: zero };
  if ((of.op !== 'add' && of.op !== 'subtract') || of.left.op !== 'symbol' || variablesOf(of.left).size === 0)
    return null;
  if (variablesOf(of.right).size > 0) return null;
  return { variable: of.left.name, centre: of.op === 'add' ? { op: 'negate', of: of.right } : of.right };
}

/** |x − c| < a and the like, as the values of x. */
function ofDistance(left: Expression, sign: Relation, right: Expression): Region | null {
  const reversed = REVERSED[sign];
  const around = centreOf(left);
  if (!around) return reversed && centreOf(right) ? ofDistance(right, reversed, left) : null;
  const radius = endOf(right, false);
  if (!radius?.node || !(radius.value > 0) || sign === '=' || sign === '≈' || sign === '≡') return null;
  const at = (op: 'add' | 'subtract') =>
    endOf({ op, left: around.centre, right: radius.node! }, sign === '≤' || sign === '>');
  const [low, high] = [at('subtract'), at('add')];
  if (!low || !high) return null;
  if (sign === '≠') return { variable: around.variable, intervals: complement([point(low), point(high)]) };
  const inside = [{ low, high }];
  return {
    variable: around.variable,
    intervals: sign === '<' || sign === '≤' ? inside : complement(inside),
  };
}

function conditionOf(left: Expression, sign: Relation, right: Expression): Condition | null {
  const reversed = REVERSED[sign];
  if (reversed === undefined) return null;
  const closed = sign === '≤' || sign === '≥' || sign === '=';
  if (left.op === 'symbol' && variablesOf(left).size > 0) {
    const end = endOf(right, closed);
    return end && { variable: left.name, sign, end };
  }
  if (right.op !== 'symbol' || variablesOf(right).size === 0) return null;
  const end = endOf(left, closed);
  return end && { variable: right.name, sign: reversed, end };
}

function intervalsOf({ sign, end }: Condition): Interval[] {
  if (sign === '=') return [point(end)];
  if (sign === '≠') return complement([point(end)]);
  return sign === '<' || sign === '≤' ? [{ low: BELOW, high: end }] : [{ low: end, high: ABOVE }];
}

/** Chains such as 2 < x ≤ 5 in one variable. */
function ofRelation({ relations, sides }: Extract<MathAnswer, { kind: 'relation' }>): Region | null {
  let intervals: readonly Interval[] = [REALS];
  let variable: string | null = null;
  const [first, second] = [sides[0]?.answer, sides[1]?.answer];
  if (sides.length === 2 && first?.kind === 'value' && second?.kind === 'value') {
    const distance = ofDistance(first.node, relations[0]!, second.node);
    if (distance) return distance;
  }
  for (const [i, sign] of relations.entries()) {
    const [left, right] = [sides[i]!.answer, sides[i + 1]!.answer];
    const condition =
      left?.kind === 'value' && right?.kind === 'value' ? conditionOf(left.node, sign, right.node) : null;
    if (!condition || (variable !== null && variable !== condition.variable)) return null;
    variable = condition.variable;
    intervals = intersection(intervals, intervalsOf(condition));
  }
  return { variable: variable === 'numbers' ? null : variable, intervals };
}

function joinedRegions(
  parts: readonly MathAnswer[],
  join: (a: readonly Interval[], b: readonly Interval[]) => Interval[],
): Region | null {
  const regions = parts.map(regionOf);
  if (regions.some((region) => region === null)) return null;
  const names = new Set(regions.flatMap((region) => region!.variable ?? []));
  if (names.size > 1) return null;
  const [first, ...rest] = regions.map((region) => region!.intervals);
  return {
    variable: [...names][0] ?? null,
    intervals: rest.reduce((a, b) => join(a, b), merged(first ?? [])),
  };
}

const union = (a: readonly Interval[], b: readonly Interval[]): Interval[] => merged([...a, ...b]);
const without = (a: readonly Interval[], b: readonly Interval[]): Interval[] =>
  intersection(a, complement(b));

const isEquation = (item: MathAnswer): boolean =>
  item.kind === 'relation' && item.relations.every((sign) => sign === '=');

/** Conditions that exclude each other are meant otherwise than they are joined. */
const notEmpty = (region: Region | null): Region | null => (region?.intervals.length ? region : null);

function ofList({ brackets, items, joined }: Extract<MathAnswer, { kind: 'list' }>): Region | null {
  if (brackets === '' && items.every(({ kind }) => kind === 'list' || kind === 'sets')) {
    const both = joined === 'and' ? notEmpty(joinedRegions(items, intersection)) : null;
    return both ?? joinedRegions(items, union);
  }
  if (brackets === '')
    return joined === 'or' || (joined === 'and' && items.every(isEquation))
      ? joinedRegions(items, union)
      : joined === 'and'
        ? notEmpty(joinedRegions(items, intersection))
        : null;
  const nodes = items.map((item) => (item.kind === 'value' ? item.node : null));
  if (brackets === '{}') {
    const ends = nodes.map((node) => node && endOf(node, true));
    return ends.every((end) => end?.node)
      ? { variable: null, intervals: merged(ends.map((end) => point(end!))) }
      : null;
  }
  const [low, high] = [
    nodes[0] && endOf(nodes[0], brackets.startsWith('[')),
    nodes[1] && endOf(nodes[1], brackets.endsWith(']')),
  ];
  return nodes.length === 2 && low && high ? { variable: null, intervals: merged([{ low, high }]) } : null;
}

/** The set of reals that an answer says; null where it says none. */
export function regionOf(answer: MathAnswer): Region | null {
  switch (answer.kind) {
    case 'relation':
      return ofRelation(answer);
    case 'list':
      return ofList(answer);
    case 'sets':
      return joinedRegions(
        answer.parts,
        answer.op === '∪' ? union : answer.op === '∩' ? intersection : without,
      );
    case 'value':
      if (answer.node.op !== 'symbol') return null;
      if (answer.node.name === '∅') return { variable: null, intervals: [] };
      return ['mathbb(R)', 'R'].includes(answer.node.name) ? { variable: null, intervals: [REALS] } : null;
    default:
      return null;
  }
}

/** Have both the same elements, of the same variable where both name one? */
export function equalRegions(a: Region, b: Region): boolean {
  if (a.variable !== null && b.variable !== null && a.variable !== b.variable) return false;
  const same = (x: End, y: End) =>
    x.closed === y.closed && compare(x, y) === 0 && (x.node === null) === (y.node === null);
  return (
    a.intervals.length === b.intervals.length &&
    a.intervals.every(
      ({ low, high }, i) => same(low, b.intervals[i]!.low) && same(high, b.intervals[i]!.high),
    )
  );
}
