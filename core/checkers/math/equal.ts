/** Equality of answers: what an equation, a list, a set, an interval, a matrix and a ratio say, beside what their expressions are worth. */
import Fraction from 'fraction.js';
import { type Conversion, conversions, isSameUnit } from '../units.ts';
import { HALVES_OF_DAY, timeOfDay } from './dates.ts';
import { constantFactor, difference, equalExpressions, isWrittenOut, numericValue } from './expressions.ts';
import { equalRegions, regionOf } from './region.ts';
import type { Expression, MathAnswer, Relation, Side } from './tree.ts';
import { variablesOf } from './value.ts';

/**
 * A percentage is the share that it is of 1. To a reference in percent its figure alone is right as well; to a plain reference a percentage with its
 * figure is, where the reference is more than a share can be.
 */
function equalFigures(reference: Expression, answer: Expression): boolean | null {
  const renamed = withConstantOf(reference, answer);
  if (renamed) return equalPlain(reference, renamed);
  const found = conversions(measureOf(answer), measureOf(reference));
  if (found) {
    // Letters that may be variables: 2 h L is 2 L h, whatever they measure.
    const areLetters = withoutUnit(reference) && withoutUnit(answer);
    if (areLetters && equalExpressions(reference, answer) === true) return true;
    const [value, said] = [plainValue(reference), plainValue(answer)];
    const verdicts = found.map((one) => equalPlain(value, converted(said, one)));
    return verdicts.includes(true) || (verdicts.includes(null) ? null : false);
  }
  return equalPlain(reference, answer);
}

function equalPlain(reference: Expression, answer: Expression): boolean | null {
  const same = equalExpressions(reference, answer);
  if (same === true || isWrittenOut(reference, answer) || isWrittenOut(answer, reference)) return true;
  const [value, measured] = [withoutUnit(reference), withoutUnit(answer)];
  if ((value && variablesOf(answer).size === 0) || (measured && variablesOf(reference).size === 0))
    return equalPlain(value ?? reference, measured ?? answer);
  const [figure, other] = [figureOf(reference), figureOf(answer)];
  if (figure && !other) return equalExpressions(figure, answer) ?? same;
  if (other && !figure && exceedsOne(reference)) return equalExpressions(reference, other) ?? same;
  return same;
}

/** A value whose last factor may be a unit, as in 10 s, without it; null of others. */
const withoutUnit = (node: Expression): Expression | null =>
  node.op === 'multiply' && node.right.unit ? node.left : null;

/** The unit that is stated behind a value. */
const measureOf = (node: Expression): string | undefined =>
  node.measure ??
  (node.op === 'negate'
    ? measureOf(node.of)
    : node.op === 'multiply' && node.right.unit
      ? node.right.measure
      : undefined);

/** Terms of a sum that are added, and no more than letters. */
const addedLetters = (node: Expression): readonly string[] =>
  node.op === 'symbol'
    ? [node.name]
    : node.op === 'add'
      ? [...addedLetters(node.left), ...addedLetters(node.right)]
      : node.op === 'subtract'
        ? addedLetters(node.left)
        : [];
const CONSTANTS = /^(?:[CcKk]|C_\d)$/;

function renamedIn(node: Expression, from: string, to: string): Expression {
  if (node.op === 'number') return node;
  if (node.op === 'symbol') return node.name === from ? { ...node, name: to } : node;
  if ('of' in node) return { ...node, of: renamedIn(node.of, from, to) };
  return { ...node, left: renamedIn(node.left, from, to), right: renamedIn(node.right, from, to) };
}

/** The answer with the reference’s letter for a constant of integration, x^2 + c as x^2 + C; null where they name none, or the same. */
function withConstantOf(reference: Expression, answer: Expression): Expression | null {
  const free = (node: Expression) =>
    node.op === 'add' || node.op === 'subtract'
      ? addedLetters(node).filter((name) => CONSTANTS.test(name))
      : [];
  const [[name, ...more], [said, ...others]] = [free(reference), free(answer)];
  if (!name || !said || name === said || more.length > 0 || others.length > 0) return null;
  const isOne = name === 'C' || said === 'C';
  if (!isOne || variablesOf(reference).has(said) || variablesOf(answer).has(name)) return null;
  return renamedIn(answer, said, name);
}

/** A value without the unit that is stated behind it. */
function plainValue(node: Expression): Expression {
  const value = withoutUnit(node) ?? node;
  if (value.op === 'negate') return { op: 'negate', of: plainValue(value.of) };
  const { measure: _, ...rest } = value;
  return rest;
}

/** A value, or quantities that come to one. */
const amountOf = (answer: MathAnswer): Expression | null =>
  answer.kind === 'value' ? answer.node : answer.kind === 'text' ? (answer.amount ?? null) : null;

/** The units that are stated in an answer. */
function unitsIn(answer: MathAnswer): string[] {
  if (answer.kind === 'value') return [measureOf(answer.node) ?? []].flat();
  const parts =
    answer.kind === 'relation'
      ? answer.sides.flatMap(({ answer }) => answer ?? [])
      : answer.kind === 'list'
        ? answer.items
        : answer.kind === 'sets'
          ? answer.parts
          : [];
  return parts.flatMap(unitsIn);
}

/** Are there no two units in them that are known and not the same? */
const shareUnits = (a: MathAnswer, b: MathAnswer): boolean => {
  const units = new Set(unitsIn(b));
  return [...new Set(unitsIn(a))].every((one) =>
    [...units].every((other) => {
      const found = conversions(one, other);
      return found === null || isSameUnit(found);
    }),
  );
};

function converted(value: Expression, { factor, pi }: Conversion): Expression {
  const number = (n: Fraction): Expression => ({ op: 'number', value: n });
  const power: Expression = {
    op: 'power',
    left: { op: 'symbol', name: 'pi' },
    right: number(new Fraction(pi)),
  };
  const scaled: Expression = factor.equals(1)
    ? value
    : { op: 'multiply', left: value, right: number(factor) };
  return pi === 0 ? scaled : { op: 'multiply', left: scaled, right: power };
}

function figureOf(node: Expression): Expression | null {
  if (node.op === 'percent') return node.of;
  const of = node.op === 'negate' ? figureOf(node.of) : null;
  return of && { op: 'negate', of };
}

function exceedsOne(node: Expression): boolean {
  if (variablesOf(node).size > 0) return false;
  const value = numericValue(node);
  return value !== null && Math.abs(value) > 1;
}

const nodeOf = (side: Side | undefined): Expression | null =>
  side?.answer?.kind === 'value' ? side.answer.node : null;
const isSymbol = (side: Side | undefined): boolean => nodeOf(side)?.op === 'symbol';

const hasVariables = (side: Side): boolean => {
  const node = nodeOf(side);
  return node === null || variablesOf(node).size > 0;
};

/** Do both sides of an equation between constants have one value? */
function isTrueOfConstants(sides: readonly Side[]): boolean {
  const values = sides.map(nodeOf);
  if (values.every((node) => node !== null && measureOf(node) !== undefined))
    return values.every(
      (node, i) =>
        variablesOf(plainValue(node!)).size === 0 &&
        (i === 0 || equalFigures(values[i - 1]!, node!) === true),
    );
  return values.every(
    (node, i) =>
      node !== null &&
      variablesOf(node).size === 0 &&
      (i === 0 || equalExpressions(values[i - 1]!, node) === true),
  );
}

/** How far a value may be from what it is rounded to, as a share of it: by a first digit at most. */
const ROUNDED = 0.05;

/** Can the second side be the first one, rounded? Also where either is no constant, and nothing can be said. */
function isNear(exact: Side, rounded: Side): boolean {
  const [a, b] = [exact, rounded].map((side) => {
    const node = nodeOf(side);
    return node && variablesOf(node).size === 0 ? numericValue(node) : null;
  });
  return a == null || b == null || Math.abs(a - b) <= ROUNDED * Math.abs(a);
}

type Related = Extract<MathAnswer, { kind: 'relation' }>;

/**
 * The value that an equation gives to something: "x = 3", "6 = x", "AB = 6", "Area = 6", "f(x) = 2x + 1", "2 · 3 = 6", "x = 2 + 4 = 6". null where it is a
 * condition, such as "2x = 6".
 */
export function valueGiven({ relations, sides }: Related): MathAnswer | null {
  if (!relations.every((sign) => sign === '=' || sign === '≈')) return null;
  const [first, last] = [sides[0]!, sides.at(-1)!];
  if (sides.length > 2) {
    const rest = isTrueOfConstants(sides.slice(1)) || (first.label === null && isTrueOfConstants(sides));
    return rest ? last.answer : null;
  }
  if (relations[0] === '≈') return first.label !== null || !isNear(first, last) ? last.answer : first.answer;
  if (isTrueOfConstants(sides)) return last.answer;
  const names = (side: Side, other: Side): boolean => {
    const node = nodeOf(side);
    if (side.label === null || other.answer === null) return false;
    // A name that the other side has in it is not given by it: x = 2x − 1.
    const value = nodeOf(other);
    return !(node?.op === 'symbol' && value && variablesOf(value).has(node.name));
  };
  if (names(first, last)) return last.answer;
  return first.label === null && names(last, first) ? first.answer : null;
}

const REVERSED: Readonly<Record<Relation, Relation>> = {
  '=': '=',
  '<': '>',
  '≤': '≥',
  '>': '<',
  '≥': '≤',
  '≠': '≠',
  '≈': '≈',
  '≡': '≡',
};

/** Relations of two expressions are the same where one difference is a multiple of the other, by a factor that keeps the sign’s direction. */
function equalConditions(a: Related, b: Related): boolean {
  const [f, g] = [a, b].map(({ sides: [left, right] }) => {
    const [x, y] = [nodeOf(left), nodeOf(right)];
    return x && y ? difference(x, y) : null;
  });
  // Between constants there is no condition that another could be a multiple of.
  if (a.sides.every((side) => !hasVariables(side)) || b.sides.every((side) => !hasVariables(side)))
    return false;
  const factor = f && g ? constantFactor(f, g) : null;
  if (factor === null) return false;
  const [sign, other] = [a.relations[0]!, b.relations[0]!];
  const directed = sign !== REVERSED[sign];
  if (!directed) return sign === other;
  return factor > 0 ? sign === other : factor < 0 && sign === REVERSED[other];
}

function equalSides(a: Side, b: Side): boolean {
  if (a.answer && b.answer && equalAnswers(a.answer, b.answer) === true) return true;
  return a.label !== null && a.label === b.label;
}

/** Is one chain the other, read from its end? */
const isTurned = (a: Related, b: Related): boolean =>
  a.relations.every((sign, i) => sign === REVERSED[b.relations.at(-1 - i)!]) &&
  a.sides.every((side, i) => equalSides(side, b.sides.at(-1 - i)!));

function equalRelations(a: Related, b: Related): boolean {
  const same = a.sides.length === b.sides.length && a.relations.every((sign, i) => sign === b.relations[i]);
  if (same && a.sides.every((side, i) => equalSides(side, b.sides[i]!))) return true;
  if (a.sides.length > 2 && b.sides.length === a.sides.length && isTurned(a, b)) return true;
  if (a.sides.length === 2 && b.sides.length === 2 && shareUnits(a, b) && equalConditions(a, b)) return true;
  // Two true equations between constants, and two that name the same thing, say their values.
  const [x, y] = [valueGiven(a), valueGiven(b)];
  if (!x || !y) return false;
  const [nameA, nameB] = [a, b].map(({ sides }) => sides.find(({ label }) => label !== null)?.label ?? null);
  return nameA === nameB && equalAnswers(x, y) === true;
}

type List = Extract<MathAnswer, { kind: 'list' }>;

const isOrdered = ({ brackets }: List): boolean => brackets !== '' && brackets !== '{}';

/** Values of distinct names, in the order of the names: "y = 2, x = 1" is the point (1, 2). null where it is no such list. */
function assigned(list: List): List | null {
  if (list.brackets !== '' || list.items.length < 2 || list.joined === 'or') return null;
  const named = list.items.map((item) => {
    if (item.kind !== 'relation' || item.sides.length !== 2) return null;
    const [left] = item.sides;
    const value = valueGiven(item);
    const isName = isSymbol(left) || /^[A-Za-z]\d+$/.test(left!.label ?? '');
    return isName && value ? { name: left!.label!, value } : null;
  });
  if (named.some((one) => one === null) || new Set(named.map((one) => one!.name)).size < named.length)
    return null;
  const sorted = [...named].sort((a, b) => (a!.name < b!.name ? -1 : 1));
  return { kind: 'list', brackets: '()', items: sorted.map((one) => one!.value), joined: ',' };
}

function equalInAnyOrder(a: readonly MathAnswer[], b: readonly MathAnswer[]): boolean {
  if (a.length !== b.length) return false;
  const left = [...b];
  return a.every((item) => {
    const at = left.findIndex((other) => equalAnswers(item, other) === true);
    if (at >= 0) left.splice(at, 1);
    return at >= 0;
  });
}

const withoutRepeats = (items: readonly MathAnswer[]): MathAnswer[] =>
  items.filter((item, i) => !items.slice(0, i).some((before) => equalAnswers(before, item) === true));

/** Elements in the given order, as the elements of a bare list in which the first alone names what it is: "x = 1, 2". */
function plainItems({ items }: List): readonly MathAnswer[] {
  const [first, ...rest] = items;
  if (first?.kind !== 'relation' || rest.length === 0 || rest.some(({ kind }) => kind === 'relation'))
    return items;
  const value = valueGiven(first);
  return value ? [value, ...rest] : items;
}

/** Elements, those that name a value as this value. */
const valuesOf = (list: List): readonly MathAnswer[] =>
  plainItems(list).map((item) => (item.kind === 'relation' ? (valueGiven(item) ?? item) : item));

/** The element of a set of one; null of other lists. */
const onlyElement = ({ brackets, items }: List): MathAnswer | null =>
  brackets === '{}' && items.length === 1 ? items[0]! : null;

function equalLists(a: List, b: List): boolean {
  const inOrder = (x: readonly MathAnswer[], y: readonly MathAnswer[]) =>
    x.length === y.length && x.every((item, i) => equalAnswers(item, y[i]!) === true);
  const [pointA, pointB] = [assigned(a), assigned(b)];
  if (pointA || pointB) {
    const [x, y] = [pointA ?? a, pointB ?? b];
    if (pointA && pointB) return equalInAnyOrder(a.items, b.items);
    // x_1 = 3, x_2 = -2 may be two values of x.
    const numbered = [a, b].some(
      ({ items }, i) =>
        [pointA, pointB][i] &&
        items.every((item) => item.kind === 'relation' && /^[A-Za-z]_?\d+$/.test(item.sides[0]!.label ?? '')),
    );
    if (numbered && (pointA ? b : a).brackets !== '()')
      return equalInAnyOrder(x.items, valuesOf(pointA ? b : a));
    // Other lists have their elements in the order of the names.
    return (
      (x.brackets === '()' || x.brackets === '') &&
      (y.brackets === '()' || y.brackets === '') &&
      inOrder(x.items, y.items)
    );
  }
  const [oneA, oneB] = [onlyElement(a), onlyElement(b)];
  if (oneA && !oneB) return equalAnswers(oneA, b) === true;
  if (oneB && !oneA) return equalAnswers(a, oneB) === true;
  // Two numbers in square brackets are an interval; others are a list as programs write it.
  const isProgrammed = (one: List, other: List) =>
    one.brackets === '[]' &&
    one.items.length !== 2 &&
    other.brackets === '' &&
    one.items.length === other.items.length;
  if (isProgrammed(a, b) || isProgrammed(b, a)) return equalInAnyOrder(a.items, b.items);
  const ordered = isOrdered(a);
  if (ordered !== isOrdered(b) || (ordered && a.brackets !== b.brackets)) return false;
  if (ordered) return inOrder(a.items, b.items);
  if (a.brackets === '{}' && b.brackets === '{}')
    return equalInAnyOrder(withoutRepeats(a.items), withoutRepeats(b.items));
  return equalInAnyOrder(plainItems(a), plainItems(b));
}

/** Rows as lists of lists, [[1, 2], [3, 4]], are a matrix, too. */
function rowsOf(answer: MathAnswer): readonly (readonly MathAnswer[])[] | null {
  if (answer.kind === 'matrix') return answer.fence === '' ? answer.rows : null;
  if (answer.kind !== 'list' || answer.brackets !== '[]') return null;
  const rows = answer.items.map((row) => (row.kind === 'list' && row.brackets === '[]' ? row.items : null));
  return rows.some((row) => row === null) ? null : (rows as (readonly MathAnswer[])[]);
}

const equalRows = (a: readonly (readonly MathAnswer[])[], b: readonly (readonly MathAnswer[])[]): boolean =>
  a.length === b.length &&
  a.every(
    (row, r) => row.length === b[r]!.length && row.every((cell, c) => equalAnswers(cell, b[r]![c]!) === true),
  );

function equalMatrices(a: MathAnswer, b: MathAnswer): boolean {
  if (a.kind === 'matrix' && b.kind === 'matrix') return a.fence === b.fence && equalRows(a.rows, b.rows);
  const [x, y] = [rowsOf(a), rowsOf(b)];
  return x !== null && y !== null && equalRows(x, y);
}

type Ratio = Extract<MathAnswer, { kind: 'ratio' }>;

/** A reference that is a time of day is that as it is written; other ratios are equal where their parts are in proportion. */
function equalRatios(a: Ratio, b: Ratio): boolean {
  if (a.clock !== null) return a.clock === b.clock;
  if (a.parts.length !== b.parts.length) return false;
  const product = (left: Expression, right: Expression): Expression => ({ op: 'multiply', left, right });
  return a.parts.every(
    (part, i) =>
      i === 0 || equalExpressions(product(part, b.parts[0]!), product(b.parts[i]!, a.parts[0]!)) === true,
  );
}

/** A ratio of two parts is their quotient; a time of day is none. */
const quotientOf = ({ parts, clock }: Ratio): Expression | null =>
  clock === null && parts.length === 2 ? { op: 'divide', left: parts[0]!, right: parts[1]! } : null;

const REALS: MathAnswer = { kind: 'value', node: { op: 'symbol', name: 'mathbb(R)' } };
const EMPTY: MathAnswer = { kind: 'value', node: { op: 'symbol', name: '∅' } };

/** What one answer says where the other is of another kind: the value that an equation gives, the quotient of a ratio, the one element of a list. */
function plainer(answer: MathAnswer): MathAnswer | null {
  if (answer.kind === 'relation') return valueGiven(answer);
  if (answer.kind === 'ratio') {
    const node = quotientOf(answer);
    return node && { kind: 'value', node };
  }
  if (answer.kind === 'list') return onlyElement(answer);
  if (answer.kind === 'text' && /^no (?:real )?solution$/.test(answer.text)) return EMPTY;
  if (
    answer.kind === 'text' &&
    /^(?:(?:the )?(?:set of )?(?:all )?(?:real numbers|reals)|(?:any|every) real number)$/.test(answer.text)
  )
    return REALS;
  return null;
}

/** What "√2 ≈ 1.414" comes to, beside what it is. */
const roundedIn = (answer: MathAnswer): MathAnswer | null =>
  answer.kind === 'relation' && answer.relations.join('') === '≈' ? answer.sides[1]!.answer : null;

/** A time of day: one with a colon, or an hour with its half of the day, 8 pm. */
function clockOf(answer: MathAnswer): string | null {
  if (answer.kind === 'ratio') return answer.clock;
  if (answer.kind !== 'value' || answer.node.op !== 'number') return null;
  const { value } = answer.node;
  const measure = answer.node.measure?.toLowerCase() ?? '';
  const isHour = HALVES_OF_DAY.test(measure) && value.d === 1n && value.n >= 1n && value.n <= 12n;
  return isHour ? timeOfDay(`${value.n}:00`, measure) : null;
}

/** Names with "and" between them in one order. */
const namesIn = (text: string): string => text.split(' and ').sort().join(' and ');

/** The letters of a product of letters, in their order; null of other expressions. */
function lettersOf(node: Expression): string | null {
  if (node.op === 'symbol') return /^[A-Za-z]$/.test(node.name) ? node.name.toLowerCase() : null;
  if (node.op !== 'multiply') return null;
  const [left, right] = [lettersOf(node.left), lettersOf(node.right)];
  return left === null || right === null ? null : left + right;
}

function sameKind(a: MathAnswer, b: MathAnswer): boolean | null {
  const [timeA, timeB] = [clockOf(a), clockOf(b)];
  if (timeA !== null && timeB !== null) return timeA === timeB;
  if (a.kind === 'value' && b.kind === 'value') return equalFigures(a.node, b.node);
  if (a.kind === 'relation' && b.kind === 'relation') return equalRelations(a, b);
  if (a.kind === 'list' && b.kind === 'list' && equalLists(a, b)) return true;
  if (a.kind === 'ratio' && b.kind === 'ratio') return equalRatios(a, b);
  if (a.kind === 'based' && b.kind === 'based') return a.digits === b.digits && a.base === b.base;
  if (a.kind === 'text' && b.kind === 'text') return namesIn(a.text) === namesIn(b.text);
  // "Tom" is read as a product where nothing says that it is a word.
  if (a.kind === 'value' && b.kind === 'text' && lettersOf(a.node) === b.text) return true;
  if (a.kind === 'text' && b.kind === 'value' && lettersOf(b.node) === a.text) return true;
  if (a.kind === 'sets' && b.kind === 'sets' && a.op === b.op) {
    const same =
      a.op === '∖'
        ? a.parts.length === b.parts.length &&
          a.parts.every((part, i) => equalAnswers(part, b.parts[i]!) === true)
        : equalInAnyOrder(a.parts, b.parts);
    if (same) return true;
  }
  return equalMatrices(a, b);
}

/** null where equality cannot be decided. */
export function equalAnswers(a: MathAnswer, b: MathAnswer): boolean | null {
  const same = sameKind(a, b);
  if (same !== false) return same;
  const [amountA, amountB] = [amountOf(a), amountOf(b)];
  if ((a.kind === 'text' || b.kind === 'text') && amountA && amountB)
    return conversions(measureOf(amountA), measureOf(amountB)) !== null && equalFigures(amountA, amountB);
  // Conditions and regions are compared without units.
  if (!shareUnits(a, b)) return a.kind === b.kind ? false : equalPlainer(a, b);
  if (isSetLike(a) || isSetLike(b)) {
    const [x, y] = [regionOf(a), regionOf(b)];
    if (x && y) return equalRegions(x, y);
  }
  return a.kind === b.kind ? false : equalPlainer(a, b);
}

function equalPlainer(a: MathAnswer, b: MathAnswer): boolean | null {
  const [x, y] = [plainer(a), plainer(b)];
  if (x && equalAnswers(x, b) === true) return true;
  const [roundedA, roundedB] = [roundedIn(a), roundedIn(b)];
  if (roundedA && equalAnswers(roundedA, b) === true) return true;
  if (roundedB && equalAnswers(a, roundedB) === true) return true;
  return y ? equalAnswers(a, y) : false;
}

/** Is it a set of numbers by what it says, and no list whose brackets could be those of a point? */
function isSetLike(answer: MathAnswer): boolean {
  if (answer.kind === 'sets') return true;
  if (answer.kind === 'relation') return valueGiven(answer) === null;
  if (answer.kind === 'list') return answer.items.some(({ kind }) => kind === 'sets' || kind === 'relation');
  return (
    answer.kind === 'value' && answer.node.op === 'symbol' && ['∅', 'mathbb(R)'].includes(answer.node.name)
  );
}
