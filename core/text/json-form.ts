/**
 * What JSON of a schema may look like, byte by byte. Written are objects with their fields in the order of the schema, with at most one space after a
 * colon or a comma; everything that is written is valid under the schema. A keyword that is not heeded is refused by name.
 */
import * as v from 'valibot';
import { RollmeshError, wrongInput } from '../errors.ts';
import {
  byteOf,
  either,
  inTurn,
  literal,
  often,
  oneOfBytes,
  type Piece,
  perhaps,
  times,
} from './byte-automaton.ts';
import { DEEPEST, isEndless } from './nesting.ts';

/** How deep JSON is nested below a place of which the schema says nothing. */
const DEEPEST_FREE = 3;
/** The longest list or string whose length a schema bounds. */
const MOST_COUNTED = 256;
/** The most schemas and values that are read, those behind a reference each time anew: a few references can stand for any number of them. */
const MOST_READ = 4096;
/** The longest reference that is followed. */
const LONGEST_REFERENCE = 400;

type Schema = Readonly<Record<string, unknown>>;

const digit = byteOf([0x30, 0x39]);
const hex = byteOf([0x30, 0x39], [0x41, 0x46], [0x61, 0x66]);
const notD = byteOf([0x30, 0x39], [0x41, 0x43], [0x45, 0x46], [0x61, 0x63], [0x65, 0x66]);
const tail = byteOf([0x80, 0xbf]);
/** A character beyond ASCII, in UTF-8 without its errors (RFC 3629). */
const beyondAscii = either(
  inTurn(byteOf([0xc2, 0xdf]), tail),
  inTurn(byteOf([0xe0, 0xe0]), byteOf([0xa0, 0xbf]), tail),
  inTurn(byteOf([0xe1, 0xec], [0xee, 0xef]), tail, tail),
  inTurn(byteOf([0xed, 0xed]), byteOf([0x80, 0x9f]), tail),
  inTurn(byteOf([0xf0, 0xf0]), byteOf([0x90, 0xbf]), tail, tail),
  inTurn(byteOf([0xf1, 0xf3]), tail, tail, tail),
  inTurn(byteOf([0xf4, 0xf4]), byteOf([0x80, 0x8f]), tail, tail),
);
/** A character of a string (RFC 8259), in UTF-8; halves of surrogate pairs are not written as escapes. */
const character = either(
  byteOf([0x20, 0x21], [0x23, 0x5b], [0x5d, 0x7f]),
  inTurn(
    literal('\\'),
    either(
      oneOfBytes('"\\/bfnrt'),
      inTurn(
        literal('u'),
        either(
          inTurn(notD, times(hex, 3, 3)),
          inTurn(oneOfBytes('dD'), byteOf([0x30, 0x37]), times(hex, 2, 2)),
        ),
      ),
    ),
  ),
  beyondAscii,
);
const quote = literal('"');
const string = inTurn(quote, often(character), quote);
const integer = inTurn(
  perhaps(literal('-')),
  either(literal('0'), inTurn(byteOf([0x31, 0x39]), often(digit))),
);
const number = inTurn(
  integer,
  perhaps(inTurn(literal('.'), times(digit, 1))),
  perhaps(inTurn(oneOfBytes('eE'), perhaps(oneOfBytes('+-')), times(digit, 1))),
);
const boolean = either(literal('true'), literal('false'));
const nothing = literal('null');
const after = (mark: string): Piece => inTurn(literal(mark), perhaps(literal(' ')));
const colon = after(':');
const comma = after(',');

/** One item or more. It is built once, since what is nested would be built twice at each depth. */
const separated =
  (item: Piece): Piece =>
  (states, next) => {
    const also = [next];
    const begin = item(states, states.add([], also));
    also.push(comma(states, begin));
    return begin;
  };

const list = (item: Piece, least = 0, most?: number): Piece => {
  if (most === 0) return literal('[]');
  const filled =
    least < 2 && most === undefined
      ? separated(item)
      : inTurn(
          item,
          times(inTurn(comma, item), Math.max(0, least - 1), most === undefined ? undefined : most - 1),
        );
  return inTurn(literal('['), least ? filled : perhaps(filled), literal(']'));
};
/** An object with any names. */
const map = (value: Piece): Piece =>
  inTurn(literal('{'), perhaps(separated(inTurn(string, colon, value))), literal('}'));
const free = (depth: number): Piece =>
  depth === 0
    ? either(string, number, boolean, nothing)
    : either(string, number, boolean, nothing, list(free(depth - 1)), map(free(depth - 1)));

/** What an answer is: any object of JSON, or JSON of a schema. */
export type JsonForm = 'object' | { readonly schema: unknown };

/** A call of a tool as a policy writes it: JSON, or any text, between two others. Any text goes up to the first byte of `after`. */
export interface WrittenCall {
  readonly before: string;
  readonly given: JsonForm | 'text';
  readonly after: string;
}

/** What is no byte of a text's end: all but its first one, in characters of UTF-8. */
function textBefore(after: string): Piece {
  const first = after.charCodeAt(0);
  const ascii: [number, number][] = [
    [0x20, first - 1],
    [first + 1, 0x7e],
  ];
  const plain = byteOf(...ascii.filter(([from, to]) => from <= to));
  return inTurn(either(plain, beyondAscii), often(either(plain, beyondAscii)));
}

/** JSON of a form, or one call of a tool. Throws `serving.schema` for the form; a tool whose arguments it cannot hold to is given any object of JSON. */
export function jsonOrCalls(form: JsonForm, calls: readonly WrittenCall[]): Piece {
  const held = (given: JsonForm): Piece => {
    try {
      return jsonOf(given);
    } catch (error) {
      if (error instanceof RollmeshError && error.code === 'serving.schema') return jsonOf('object');
      throw error;
    }
  };
  return either(
    jsonOf(form),
    ...calls.map(({ before, given, after }) =>
      inTurn(literal(before), given === 'text' ? textBefore(after) : held(given), literal(after)),
    ),
  );
}

/** A schema that is being read. */
interface Reading {
  readonly root: unknown;
  /** How many schemas and values were read so far. */
  read: number;
}

/** Where a schema is read. */
interface Place {
  /** For errors. */
  readonly path: string;
  /** How many schemas it stands in. */
  readonly depth: number;
  /** The references that led to it. */
  readonly seen: readonly string[];
}

function count(reading: Reading, more: number, path: string): void {
  reading.read += more;
  if (reading.read > MOST_READ)
    throw refused(path, `has more than ${MOST_READ} parts, where references are followed`, 'fewer of them');
}

const schemaOf = (value: unknown, path: string): Schema | boolean => {
  if (typeof value === 'boolean') return value;
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Schema;
  throw refused(path, 'is no schema', 'an object, true or false');
};

const refused = (path: string, what: string, expected?: string) =>
  wrongInput('serving.schema', `The schema at ${JSON.stringify(path.slice(0, 120) || '/')} ${what}.`, {
    ...(expected ? { expected } : {}),
    next: 'Change the schema, or check the text instead.',
  });

/** Keywords that say nothing about what is valid. */
const SAYS_NOTHING = new Set([
  'title',
  'description',
  'default',
  'examples',
  '$schema',
  '$id',
  '$comment',
  '$defs',
  'definitions',
  'deprecated',
  'readOnly',
  'writeOnly',
]);
const OF_TYPE: Readonly<Record<string, readonly string[]>> = {
  object: ['properties', 'required', 'additionalProperties'],
  array: ['items', 'minItems', 'maxItems'],
  string: ['minLength', 'maxLength'],
  integer: [],
  number: [],
  boolean: [],
  null: [],
};
const length = v.optional(v.pipe(v.number(), v.safeInteger(), v.minValue(0), v.maxValue(MOST_COUNTED)));

/** Throws `serving.schema`. */
export function jsonOf(form: JsonForm): Piece {
  if (form === 'object') return map(free(DEEPEST_FREE));
  const root = form.schema;
  const place = { path: '', depth: 0, seen: [] };
  const piece = pieceOf(root, place, { root, read: 0 });
  const schema = schemaOf(root, '');
  const top = typeof schema === 'boolean' ? undefined : resolved(schema, place, root).schema;
  // A number would end nowhere: the next digit might belong to it.
  if (typeof top !== 'object' || (top.type !== 'object' && top.type !== 'array'))
    throw refused('', 'has another type than object', 'an object or a list at the root');
  return piece;
}

/** The names of a JSON pointer that is written as the fragment of a URI (RFC 6901, sections 3, 4 and 6); undefined where it is none. */
function namesOf(reference: string): string[] | undefined {
  try {
    const [first, ...names] = decodeURIComponent(reference.slice(1)).split('/');
    return first ? undefined : names.map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));
  } catch {
    return undefined;
  }
}

/** A schema behind its references. */
function resolved(
  schema: Schema,
  { path, depth, seen }: Place,
  root: unknown,
): { schema: Schema; seen: readonly string[] } {
  const { $ref: to, ...rest } = schema;
  if (to === undefined) return { schema, seen };
  if (Object.keys(rest).some((keyword) => !SAYS_NOTHING.has(keyword)))
    throw refused(path, 'has other keywords beside $ref');
  if (typeof to !== 'string' || !to.startsWith('#'))
    throw refused(`${path}/$ref`, 'leads out of the schema', 'a reference such as "#/$defs/name"');
  if (seen.includes(to))
    throw refused(
      `${path}/$ref`,
      `refers to itself by ${JSON.stringify(to.slice(0, 80))}, so that its JSON has no end`,
      'a schema without circles',
    );
  if (to.length > LONGEST_REFERENCE || seen.length >= DEEPEST)
    throw refused(
      `${path}/$ref`,
      to.length > LONGEST_REFERENCE
        ? `has a reference of ${to.length} characters`
        : `is behind more than ${DEEPEST} references`,
    );
  const found = namesOf(to)?.reduce<unknown>(
    (at, name) =>
      typeof at === 'object' && at !== null && Object.hasOwn(at, name) ? (at as Schema)[name] : undefined,
    root,
  );
  if (found === undefined)
    throw refused(`${path}/$ref`, `refers to ${JSON.stringify(to.slice(0, 80))}, which is not there`);
  const target = schemaOf(found, to.slice(1));
  if (typeof target === 'boolean') throw refused(`${path}/$ref`, 'refers to true or false');
  return resolved(target, { path, depth, seen: [...seen, to] }, root);
}

/** The JSON of a schema below the root. */
function pieceOf(given: unknown, place: Place, reading: Reading): Piece {
  const { path, depth } = place;
  count(reading, 1, path);
  if (depth > DEEPEST)
    throw refused(path, `is nested more than ${DEEPEST} deep, where references are followed`);
  const whole = schemaOf(given, path);
  if (whole === true) return free(DEEPEST_FREE);
  if (whole === false) throw refused(path, 'allows nothing');
  const { schema, seen } = resolved(whole, place, reading.root);
  const at = (keyword: string, inner: unknown) =>
    pieceOf(inner, { path: `${path}/${keyword}`, depth: depth + 1, seen }, reading);
  const { type, ...keywords } = schema;
  const types = type === undefined ? undefined : typesOf(type, path);
  const expectOnly = (known: readonly string[]) => {
    const other = Object.keys(keywords).find((name) => !known.includes(name) && !SAYS_NOTHING.has(name));
    if (other !== undefined)
      throw refused(path, `has the keyword ${JSON.stringify(other.slice(0, 40))}, which is not heeded here`);
  };
  for (const name of ['anyOf', 'oneOf'] as const) {
    const choices = keywords[name];
    if (choices === undefined) continue;
    expectOnly([name]);
    if (type !== undefined || !Array.isArray(choices) || !choices.length)
      throw refused(`${path}/${name}`, 'is no list of schemas that stands alone');
    // What is valid under two of them would not be under oneOf.
    if (name === 'oneOf') throw refused(path, 'has the keyword "oneOf", which is not heeded here', 'anyOf');
    return either(...choices.map((choice, i) => at(`anyOf/${i}`, choice)));
  }
  const values = 'const' in keywords ? [keywords.const] : keywords.enum;
  if (values !== undefined) {
    expectOnly(['const' in keywords ? 'const' : 'enum']);
    if (!Array.isArray(values) || !values.length) throw refused(`${path}/enum`, 'is no list of values');
    count(reading, values.length, path);
    if (values.some(isEndless)) throw refused(path, 'has a number that is too large');
    const right = types === undefined ? values : values.filter((value) => isOfType(value, types));
    if (!right.length) throw refused(path, 'has no value of its type');
    return either(...right.map((value) => literal(JSON.stringify(value))));
  }
  if (types === undefined) {
    expectOnly([]);
    return free(DEEPEST_FREE);
  }
  expectOnly(types.flatMap((one) => OF_TYPE[one]!));
  return either(...types.map((one) => typed(one, keywords, path, at)));
}

/** The types that a schema names, each once. */
function typesOf(type: unknown, path: string): readonly string[] {
  const types: unknown[] = Array.isArray(type) ? type : [type];
  if (!types.length || !types.every((one) => typeof one === 'string' && Object.hasOwn(OF_TYPE, one)))
    throw refused(
      `${path}/type`,
      `is ${JSON.stringify(type).slice(0, 60)}`,
      `one of ${Object.keys(OF_TYPE).join(', ')}`,
    );
  return [...new Set(types as string[])];
}

function isOfType(value: unknown, types: readonly string[]): boolean {
  const own = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
  return types.includes(own) || (types.includes('integer') && Number.isInteger(value));
}

/** `at`: the piece of a schema below a keyword. */
function typed(
  type: string,
  keywords: Schema,
  path: string,
  at: (keyword: string, inner: unknown) => Piece,
): Piece {
  const counted = (keyword: string): number | undefined => {
    const read = v.safeParse(length, keywords[keyword]);
    if (read.success) return read.output;
    throw refused(
      `${path}/${keyword}`,
      `is ${JSON.stringify(keywords[keyword])?.slice(0, 40)}`,
      `a whole number from 0 to ${MOST_COUNTED}`,
    );
  };
  const bounds = (least: string, most: string): [number, number | undefined] => {
    const [low, high] = [counted(least) ?? 0, counted(most)];
    if (high !== undefined && high < low) throw refused(path, `asks for at least ${low} and at most ${high}`);
    return [low, high];
  };
  if (type === 'string') return inTurn(quote, times(character, ...bounds('minLength', 'maxLength')), quote);
  if (type === 'integer') return integer;
  if (type === 'number') return number;
  if (type === 'boolean') return boolean;
  if (type === 'null') return nothing;
  if (type === 'array')
    return list(
      keywords.items === undefined ? free(DEEPEST_FREE - 1) : at('items', keywords.items),
      ...bounds('minItems', 'maxItems'),
    );
  const { additionalProperties: more = true, properties = {}, required = [] } = keywords;
  if (typeof properties !== 'object' || properties === null || Array.isArray(properties))
    throw refused(`${path}/properties`, 'is no object');
  if (!Array.isArray(required)) throw refused(`${path}/required`, 'is no list of names');
  const names = Object.keys(properties);
  const [known, needed] = [new Set<unknown>(names), new Set<unknown>(required)];
  const lacking = required.find((name) => !known.has(name));
  if (lacking !== undefined)
    throw refused(`${path}/required`, `names ${JSON.stringify(lacking)?.slice(0, 60)}, which is no property`);
  if (!names.length)
    return more === false
      ? literal('{}')
      : map(more === true ? free(DEEPEST_FREE - 1) : at('additionalProperties', more));
  const fields = names.map((name) => ({
    isNeeded: needed.has(name),
    piece: inTurn(
      literal(JSON.stringify(name)),
      colon,
      at(`properties/${name}`, (properties as Schema)[name]),
    ),
  }));
  return (states, next) => {
    const end = literal('}')(states, next);
    // From the last field to the first: what may come where a field stands before it, and where none does.
    let [later, first] = [end, end];
    for (const { isNeeded, piece } of fields.toReversed()) {
      const own = piece(states, later);
      const behind = comma(states, own);
      [later, first] = isNeeded
        ? [behind, own]
        : [states.add([], [behind, later]), states.add([], [own, first])];
    }
    return literal('{')(states, first);
  };
}
