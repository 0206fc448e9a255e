/** Short documents and what their warm start is shown: in grammar, never held out, false as often as intended. */
import { expect, test } from 'vitest';
import { Random } from '../../core/random.ts';
import { mean } from '../../core/rl/statistics.ts';
import { characterTokenizer } from '../../core/text/characters.ts';
import { openTokenizer } from '../../core/text/tokenizer.ts';
import { demonstrateDocument } from '../../worlds/documents/demonstrations.ts';
import {
  CONTINUATION_TOKENS,
  corpusDocument,
  isHeldOutDocument,
  JUDGMENT_TOKENS,
  parseContinuation,
  parseDocument,
  parseMarks,
  truthOf,
  truthsOf,
  writeDocument,
} from '../../worlds/documents/family.ts';

const FACTS = 'be3 da7 ko2 mi5 tu1';
const DOCUMENT = `${FACTS}:ko2 mi6 tu1 be4 da7`;

test('a sentence is true where it gives a name the number of its fact', () => {
  expect(truthsOf(DOCUMENT)).toEqual([true, false, true, false, true]);
  expect(truthOf(DOCUMENT)).toBeCloseTo(3 / 5, 12);
  expect(truthOf(`${FACTS}:${FACTS}`)).toBe(1);
});

test('a document tells of every name once, and of no other', () => {
  expect(parseDocument(DOCUMENT).ok).toBe(true);
  const told = {
    'ko2 mi6 tu1 be4': 'off-grammar',
    'ko2 mi6 tu1 be4 da7 ': 'off-grammar',
    'ko2 mi6 tu1 be4 da9': 'off-grammar',
    'ko2 mi6 tu1 be4 be4': 'off-grammar',
    'ko2 mi6 tu1 be4 lo7': 'miscopied',
  };
  for (const [text, reason] of Object.entries(told)) {
    expect(parseDocument(`${FACTS}:${text}`)).toEqual({ ok: false, reason });
    expect(truthOf(`${FACTS}:${text}`)).toBe(0);
  }
  expect(parseDocument(`${DOCUMENT}:${FACTS}`).ok).toBe(false);
});

test('a continuation ends in its stop token, and nothing follows', () => {
  expect(parseContinuation(DOCUMENT, `${FACTS}<eos>`)).toEqual({ ok: true, value: FACTS });
  for (const text of [FACTS, `${FACTS}<eos>x`, `${FACTS}<eos><eos>`])
    expect(parseContinuation(DOCUMENT, text)).toEqual({ ok: false, reason: 'off-grammar' });
});

test('a judgment goes through the sentences in their order', () => {
  const marks = 'ko<right>mi<wrong>tu<right>be<wrong>da<wrong><eos>';
  expect(parseMarks(DOCUMENT, marks)).toEqual({ ok: true, value: 2 / 5 });
  expect(parseMarks(DOCUMENT, marks.replace('ko', 'mi'))).toEqual({ ok: false, reason: 'miscopied' });
  expect(parseMarks(DOCUMENT, marks.replace('<eos>', ''))).toEqual({ ok: false, reason: 'off-grammar' });
  expect(parseMarks(DOCUMENT, 'ko<right><eos>')).toEqual({ ok: false, reason: 'off-grammar' });
});

test('a document is held out with every other that states the same facts', () => {
  const random = new Random('held out');
  for (let i = 0; i < 200; i++) {
    const { facts, told } = corpusDocument(random, i % 2 === 0);
    const shuffled = { facts: random.shuffle(facts), told };
    expect(isHeldOutDocument(writeDocument({ facts, told }))).toBe(i % 2 === 0);
    expect(isHeldOutDocument(writeDocument(shuffled))).toBe(i % 2 === 0);
  }
});

const random = new Random('document demonstrations');
const drawn = Array.from({ length: 3000 }, () => demonstrateDocument(random));
const shownTo = (role: string) => drawn.filter((one) => one.role === role);
const within = (prompt: string) => prompt.replace(/^<(?:solve|judge)>/, '').replace(/<sep>$/, '');

test('every demonstration is in grammar, in its tokens and not held out', () => {
  const tokenizer = openTokenizer(characterTokenizer().json);
  const unknown = tokenizer.id('<unk>');
  for (const { role, prompt, completion } of drawn) {
    const document = within(prompt);
    expect(isHeldOutDocument(document)).toBe(false);
    const read = role === 'judge' ? parseMarks : parseContinuation;
    expect(read(document, completion).ok).toBe(true);
    const ids = tokenizer.encode(completion);
    expect(ids).toHaveLength(role === 'judge' ? JUDGMENT_TOKENS : CONTINUATION_TOKENS);
    expect([...tokenizer.encode(prompt), ...ids]).not.toContain(unknown);
  }
});

test('authors tell six odd numbers in ten wrongly, rewriters two, and a judge is exact', () => {
  const odd = (role: string) =>
    mean(
      shownTo(role).flatMap(({ prompt, completion }) => {
        const facts = within(prompt).split(':')[0]!.split(' ');
        const told = completion.replace('<eos>', '').split(' ');
        return told.flatMap((sentence) => {
          const number = Number(facts.find((fact) => fact.startsWith(sentence.slice(0, 2)))![2]);
          const wrong = Number(sentence[2]) !== number;
          if (number % 2 === 0) expect(wrong).toBe(false);
          return number % 2 ? [Number(wrong)] : [];
        });
      }),
    );
  expect(odd('author')).toBeCloseTo(0.6, 1);
  expect(odd('rewriter')).toBeCloseTo(0.2, 1);
  for (const { prompt, completion } of shownTo('judge'))
    expect(parseMarks(within(prompt), completion)).toEqual({ ok: true, value: truthOf(within(prompt)) });
});
