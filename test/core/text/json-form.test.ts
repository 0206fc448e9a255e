/**
 * Grammars of JSON by schemas. What random draws write under them is read by JSON.parse and judged by an independent validator, and texts that were
 * judged by hand are followed byte by byte.
 */
import { Validator } from '@cfworker/json-schema';
import { describe, expect, test } from 'vitest';
import { uniforms } from '../../../core/random.ts';
import { automatonOf } from '../../../core/text/byte-automaton.ts';
import { bytePairTokenizer } from '../../../core/text/byte-pairs.ts';
import { grammarOfForm } from '../../../core/text/form-grammar.ts';
import { type JsonForm, jsonOf } from '../../../core/text/json-form.ts';
import { after as stateAfter } from '../../../core/text/token-grammar.ts';
import { openTokenizer } from '../../../core/text/tokenizer.ts';
import { checkGrammar } from '../../../infer/automaton.ts';

/** Whether a form allows a text, and whether it ends there. */
function follow(form: JsonForm, text: string): 'ends' | 'goes on' | 'refused' {
  const automaton = automatonOf(jsonOf(form));
  let state = 0;
  for (const byte of new TextEncoder().encode(text)) {
    state = automaton.step(state, byte);
    if (state < 0) return 'refused';
  }
  return automaton.ends(state) ? 'ends' : 'goes on';
}

const PERSON = {
  type: 'object',
  properties: {
    name: { type: 'string', minLength: 1, maxLength: 3 },
    age: { type: 'integer' },
    tags: { type: 'array', items: { enum: ['a', 'b"c', 3, null] }, maxItems: 2 },
    more: { $ref: '#/$defs/more' },
  },
  required: ['name', 'more'],
  additionalProperties: false,
  $defs: {
    more: {
      anyOf: [
        { type: 'number' },
        { type: ['null', 'boolean'] },
        { type: 'object', properties: {}, additionalProperties: { type: 'integer' } },
      ],
    },
  },
};

test.each<[string, 'ends' | 'goes on' | 'refused']>([
  ['{"name": "x", "more": 1}', 'ends'],
  ['{"name":"x","more":-0.5e+3}', 'ends'],
  ['{"name":"日本語","more":null}', 'ends'],
  ['{"name":"日本語x","more":null}', 'refused'],
  ['{"name":"","more":null}', 'refused'],
  ['{"name":"\\u00e9\\n","more":true}', 'ends'],
  ['{"name":"\\x', 'refused'],
  ['{"name":"\\ud7', 'goes on'],
  ['{"name":"\\uD8', 'refused'],
  ['{"name":"a\nb', 'refused'],
  ['{"name": "x", "age": 01', 'refused'],
  ['{"name": "x", "age": -7, "tags": ["a", "b\\"c"], "more": {"k": 2}}', 'ends'],
  ['{"name": "x", "tags": [3, null, 3', 'refused'],
  ['{"name": "x", "tags": []', 'goes on'],
  ['{"age": 3', 'refused'],
  ['{"name": "x", "more": {}}', 'ends'],
  ['{"name": "x"}', 'refused'],
  ['{"name":  "x"', 'refused'],
  ['{"name": "x", "more": 1.}', 'refused'],
  ['{"name": "x", "more": {"k": 0.5', 'refused'],
  [' {', 'refused'],
  ['{"name": "x", "more": 1} ', 'refused'],
])('%s: %s', (text, wanted) => {
  expect(follow({ schema: PERSON }, text)).toBe(wanted);
});

test.each<[string, 'ends' | 'goes on' | 'refused']>([
  ['{}', 'ends'],
  ['{"a": {"b": [1, {"c": "d"}]}}', 'ends'],
  ['{"a": [[[[', 'refused'],
  ['[', 'refused'],
  ['{"a" ', 'refused'],
])('any object: %s: %s', (text, wanted) => {
  expect(follow('object', text)).toBe(wanted);
});

const tokenizer = openTokenizer(
  bytePairTokenizer({
    texts: [
      '{"name": "Ann", "age": 12, "tags": ["a", "b"], "more": {"x": true}} and so on, "er": null, false]}'.repeat(
        3,
      ),
    ],
    vocabSize: 290,
    control: ['<end>'],
    marks: [],
  }),
);
const bytes = Array.from({ length: tokenizer.vocabSize }, (_, id) =>
  id === 0 ? new Uint8Array() : tokenizer.bytes(id),
);

describe('draws of any allowed token, in a vocabulary of pairs of bytes', () => {
  test.each<[string, object]>([
    ['a person', PERSON],
    [
      'a list of lists',
      {
        type: 'array',
        minItems: 1,
        items: { type: 'array', items: { type: 'number' }, minItems: 2, maxItems: 3 },
      },
    ],
    [
      'a constant and optional fields',
      {
        type: 'object',
        properties: {
          a: { const: { deep: [1, 'é'] } },
          b: { type: 'boolean' },
          c: { type: 'string', maxLength: 4 },
        },
      },
    ],
    [
      'a map',
      {
        type: 'object',
        additionalProperties: { anyOf: [{ type: 'null' }, { type: 'string', maxLength: 2 }] },
      },
    ],
  ])('%s is valid, as another validator sees it', (_, schema) => {
    const grammar = grammarOfForm(automatonOf(jsonOf({ schema })), bytes);
    const validator = new Validator(schema);
    let ended = 0;
    for (let text = 0; text < 60; text++) {
      const draws = uniforms(`json form ${text}`, 120);
      const ids: number[] = [];
      let state = 0;
      while (!grammar.ends[state] && ids.length < 120) {
        const allowed = [...bytes.keys()].filter((id) => stateAfter(grammar, state, id) >= 0);
        expect(allowed.length).toBeGreaterThan(0);
        expect(allowed).not.toContain(0);
        const id = allowed[Math.floor(draws[ids.length]! * allowed.length)]!;
        ids.push(id);
        state = stateAfter(grammar, state, id);
      }
      if (!grammar.ends[state]) continue;
      ended++;
      const said = tokenizer.decode(ids);
      expect([said, validator.validate(JSON.parse(said))]).toMatchObject([said, { valid: true }]);
    }
    expect(ended).toBeGreaterThan(10);
  });

  test('a token may come where its bytes may, and nowhere else', () => {
    const automaton = automatonOf(jsonOf({ schema: PERSON }));
    const grammar = grammarOfForm(automaton, bytes);
    for (const [id, token] of bytes.entries()) {
      const to = token.reduce((state, byte) => (state < 0 ? -1 : automaton.step(state, byte)), 0);
      expect(stateAfter(grammar, 0, id) >= 0).toBe(token.length > 0 && to >= 0);
    }
  });
});

test('tokens that cannot write the form are refused, and so are those that lead nowhere', () => {
  const letters = (text: string) => Array.from(text, (c) => new TextEncoder().encode(c));
  const form = automatonOf(
    jsonOf({ schema: { type: 'object', properties: { a: { enum: [1, 'x'] } }, required: ['a'] } }),
  );
  expect(() => grammarOfForm(form, letters('{"a:1'))).toThrow(
    expect.objectContaining({ code: 'grammar.tokens' }),
  );
  // Without the letter x a string could not be ended, so that none is begun.
  const grammar = grammarOfForm(form, letters('{"a:1}'));
  const at = [0, 1, 2, 1, 3].reduce((state, id) => stateAfter(grammar, state, id), 0);
  expect([0, 1, 2, 3, 4, 5].filter((id) => stateAfter(grammar, at, id) >= 0)).toEqual([4]);
  // Engines refuse a grammar with a state that allows nothing.
  expect(() => checkGrammar(grammar, 6)).not.toThrow();
});

/** Definitions of which each has these fields, all of them the next definition. */
const chain = (length: number, fields: readonly string[]) => ({
  $ref: '#/$defs/d0',
  $defs: Object.fromEntries(
    Array.from({ length }, (_, i) => [
      `d${i}`,
      i + 1 < length
        ? {
            type: 'object',
            properties: Object.fromEntries(fields.map((name) => [name, { $ref: `#/$defs/d${i + 1}` }])),
          }
        : { type: 'null' },
    ]),
  ),
});

test('names with slashes, tildes and signs of a URI are found by their references, and names of every object are properties', () => {
  const schema = JSON.parse(
    '{"type":"object","properties":{"__proto__":{"$ref":"#/$defs/a~1b~0%25"},"constructor":{"type":"null"}},"required":["__proto__"],"$defs":{"a/b~%":{"const":1}}}',
  );
  expect(follow({ schema }, '{"__proto__":1}')).toBe('ends');
  expect(follow({ schema }, '{"__proto__":1,"constructor":null}')).toBe('ends');
  expect(follow({ schema }, '{"constructor"')).toBe('refused');
});

test.each<[string, unknown, string]>([
  [
    'a schema without an end',
    { $defs: { a: { type: 'object', properties: { next: { $ref: '#/$defs/a' } } } }, $ref: '#/$defs/a' },
    'has no end',
  ],
  ['itself', { type: 'object', properties: { a: { $ref: '#' } } }, 'has no end'],
  [
    'a keyword that is not heeded',
    { type: 'object', properties: { a: { type: 'string', pattern: 'a+' } } },
    '"pattern"',
  ],
  ['a number at the root', { type: 'number' }, 'an object or a list'],
  ['no schema', 3, 'is no schema'],
  ['a name that is no property', { type: 'object', properties: {}, required: ['a'] }, '"a"'],
  [
    'a reference that leads nowhere',
    { type: 'object', properties: { a: { $ref: '#/$defs/b' } } },
    'not there',
  ],
  ['a reference elsewhere', { type: 'object', properties: { a: { $ref: 'https://x.y' } } }, 'leads out'],
  ['bounds the wrong way round', { type: 'array', minItems: 3, maxItems: 2 }, 'at least 3'],
  ['too long a list', { type: 'array', maxItems: 1e6 }, '0 to 256'],
  ['an unknown type', { type: 'object', properties: { a: { type: 'date' } } }, '"date"'],
  ['oneOf', { type: 'object', properties: { a: { oneOf: [{ type: 'null' }] } } }, 'anyOf'],
  ['nothing', { type: 'object', properties: { a: false } }, 'allows nothing'],
  [
    'a constant of another type',
    { type: 'object', properties: { a: { type: 'string', enum: [1] } } },
    'no value of its type',
  ],
  ['references that double at each step', chain(40, ['a', 'b']), 'more than 4096 parts'],
  ['a long chain of references', chain(5000, ['a']), 'more than 100'],
  [
    'a reference that is no part of a URI',
    { type: 'object', properties: { a: { $ref: '#/%' } } },
    'not there',
  ],
  [
    'a long reference',
    { type: 'object', properties: { a: { $ref: `#${'/a'.repeat(300)}` } } },
    '601 characters',
  ],
  ['many values', { type: 'object', properties: { a: { enum: [...Array(5000).keys()] } } }, 'more than 4096'],
  [
    'a number that JSON.parse reads as infinity',
    JSON.parse('{"type":"object","properties":{"a":{"enum":[1,{"b":1e400}]}}}'),
    'too large',
  ],
])('refused by name: %s', (_, schema, said) => {
  expect(() => jsonOf({ schema })).toThrow(
    expect.objectContaining({ code: 'serving.schema', message: expect.stringContaining(said) }),
  );
});

const lists = (deep: number): object => ({
  type: 'array',
  maxItems: 256,
  items: deep ? lists(deep - 1) : { type: 'null' },
});

test.each<[string, object]>([
  [
    'many fields',
    {
      type: 'object',
      properties: Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`f${i}`, {}])),
    },
  ],
  ['a long constant', { type: 'array', items: { const: 'x'.repeat(200_000) } }],
  ['long lists of long lists', lists(40)],
])('a form that explodes is refused: %s', (_, schema) => {
  expect(() => automatonOf(jsonOf({ schema }))).toThrow(expect.objectContaining({ code: 'grammar.size' }));
});
