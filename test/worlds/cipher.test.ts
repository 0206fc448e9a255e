import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Random } from '../../core/random.ts';
import { characterTokenizer } from '../../core/text/characters.ts';
import { openTokenizer } from '../../core/text/tokenizer.ts';
import { demonstrateCipher } from '../../worlds/cipher/demonstrations.ts';
import {
  cipher,
  lookalike,
  meaningOf,
  randomSentence,
  SENTENCE,
  solutionOfWords,
  translationOf,
  wordsRight,
} from '../../worlds/cipher/family.ts';
import { anyText } from './any-text.ts';

test('each word has one translation, which is not its look-alike, and the last word comes first', () => {
  // a-E b-K c-A d-G e-H f-B: the last of `abcdef` comes first.
  expect(translationOf('abcdef')).toBe('BEKAGH');
  expect(translationOf('BEKAGH')).toBe('abcdef');
  const words = [...'abcdefghijklABCDEFGHIJKL'];
  expect(new Set(words.map(meaningOf))).toEqual(new Set(words));
  for (const word of words) {
    expect(meaningOf(meaningOf(word))).toBe(word);
    expect(meaningOf(word)).not.toBe(lookalike(word));
  }
});

test('a translation is any sentence of the other language, and is judged word by word', () => {
  const parse = (text: string) => cipher.parseSolution('abcdef', text);
  expect(parse('BEKAGL<eos>')).toEqual({ ok: true, value: solutionOfWords([...'BEKAGL']) });
  for (const text of ['BEKAGL', 'BEKAG<eos>', 'BEKAGHH<eos>', 'bekagh<eos>', 'BEKAGM<eos>', '<eos>'])
    expect([text, parse(text)]).toEqual([text, { ok: false, reason: 'off-grammar' }]);
  const wrong = solutionOfWords([...'BEKAGL']);
  expect(cipher.exactJudgment('abcdef', wrong)).toEqual({
    steps: [true, true, true, true, true, false],
    right: false,
  });
  expect(wordsRight('abcdef', wrong)).toBeCloseTo(5 / 6, 12);
  expect(cipher.answerIsExact('abcdef', wrong)).toBe(false);
  const right = solutionOfWords([...'BEKAGH']);
  expect(cipher.exactJudgment('abcdef', right).right).toBe(true);
  expect([wordsRight('abcdef', right), cipher.answerIsExact('abcdef', right)]).toEqual([1, true]);
  expect(cipher.judgePrompt('abcdef', wrong)).toBe('<judge>abcdef<sep>BEKAGL<sep>');
});

test('no text makes a parser throw', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const solution = cipher.parseSolution(text, text);
      cipher.parseProposal(text);
      cipher.isHeldOut(text);
      const judged = solution.ok ? solution.value : { steps: [text], answer: text };
      expect(cipher.exactJudgment(text, judged).steps).toHaveLength(judged.steps.length);
      cipher.answerIsExact(text, judged);
      cipher.parseJudgment(judged, text);
    }),
    { numRuns: 200 },
  );
});

test('a sentence and its translation are held out together, and what is drawn never is', () => {
  const held = cipher.heldOut();
  expect(new Set(held).size).toBe(300);
  for (const sentence of held)
    expect([cipher.isHeldOut(sentence), cipher.isHeldOut(translationOf(sentence))]).toEqual([true, true]);
  const random = new Random('cipher');
  for (let i = 0; i < 500; i++) {
    const sentence = randomSentence(random);
    expect([cipher.isHeldOut(sentence), cipher.isHeldOut(translationOf(sentence))]).toEqual([false, false]);
    expect(cipher.parseProposal(`${sentence}<eos>`)).toEqual({ ok: true, value: sentence });
  }
});

test('translators are fooled by three false friends, and judges overlook a part of that and nothing else', () => {
  const random = new Random('cipher demonstrations');
  const tokenizer = openTokenizer(characterTokenizer().json);
  const unknown = tokenizer.id('<unk>');
  const share = (of: readonly boolean[]) => of.filter(Boolean).length / of.length;
  const fooled: boolean[] = [];
  const slipped: boolean[] = [];
  const overlooked: boolean[] = [];
  for (let i = 0; i < 4000; i++) {
    const { role, prompt, completion } = demonstrateCipher(random);
    const [sentence, translation = completion.replace('<eos>', '')] = prompt
      .replace(/^<\w+>/, '')
      .split('<sep>')
      .filter(Boolean) as [string, string?];
    expect(cipher.isHeldOut(sentence)).toBe(false);
    expect(tokenizer.encode(prompt + completion)).not.toContain(unknown);
    const solution = solutionOfWords([...translation]);
    const { steps } = cipher.exactJudgment(sentence, solution);
    const source = [...translationOf(sentence)].map(meaningOf);
    expect(steps).toHaveLength(SENTENCE);
    if (role === 'solver') {
      expect(cipher.parseSolution(sentence, completion).ok).toBe(true);
      expect(tokenizer.encode(completion)).toHaveLength(cipher.maxNew.solver);
      steps.forEach((right, w) => {
        ('bhkBHK'.includes(source[w]!) ? fooled : slipped).push(!right);
      });
      continue;
    }
    expect(tokenizer.encode(completion)).toHaveLength(cipher.maxNew.judge);
    const judged = cipher.parseJudgment(solution, completion);
    if (!judged.ok) throw new Error(completion);
    judged.value.steps.forEach((mark, w) => {
      const mistaken = translation[w] === lookalike(source[w]!);
      if (mistaken) overlooked.push(mark);
      else expect(mark).toBe(steps[w]);
    });
  }
  expect(share(fooled)).toBeCloseTo(0.55, 1);
  expect(share(slipped)).toBeLessThan(0.05);
  expect(share(overlooked)).toBeGreaterThan(0.2);
  expect(share(overlooked)).toBeLessThan(0.4);
});
