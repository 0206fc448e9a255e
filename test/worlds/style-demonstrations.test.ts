/** What the style family's warm start is shown: well-formed, never held out, imperfect by the intended measure. */
import { expect, test } from 'vitest';
import { Random } from '../../core/random.ts';
import { rankCorrelation } from '../../core/rl/measures/rank-correlation.ts';
import { mean } from '../../core/rl/statistics.ts';
import { characterTokenizer } from '../../core/text/characters.ts';
import { openTokenizer } from '../../core/text/tokenizer.ts';
import { demonstrateStyle } from '../../worlds/style/demonstrations.ts';
import { isHeldOutStyle, parseResponse, parseScore, styleScore } from '../../worlds/style/family.ts';

const random = new Random('style demonstrations');
const drawn = Array.from({ length: 4000 }, () => demonstrateStyle(random));
const responses = drawn.filter(({ role }) => role === 'responder');
const judged = drawn
  .filter(({ role }) => role === 'judge')
  .map(({ prompt, completion }) => {
    const [task, response] = prompt.slice('<judge>'.length, -'<sep>'.length).split('<sep>');
    const digit = parseScore(completion);
    if (!digit.ok) throw new Error(`${completion}: ${digit.reason}`);
    return { truth: styleScore(task!, response!), words: response!.split(' ').length, digit: digit.value };
  });

test('every demonstration is well-formed, of a task that is not held out, and has a token for each character', () => {
  const tokenizer = openTokenizer(characterTokenizer().json);
  const unknown = tokenizer.id('<unk>');
  for (const { role, prompt, completion } of drawn) {
    const task = prompt.replace(/^<(solve|judge)>/, '').split('<sep>')[0]!;
    expect(isHeldOutStyle(task)).toBe(false);
    expect((role === 'judge' ? parseScore : parseResponse)(completion).ok).toBe(true);
    expect(tokenizer.encode(prompt + completion)).not.toContain(unknown);
  }
});

test('responses leave room: some are perfect, most are not', () => {
  const scores = responses.map(({ prompt, completion }) => {
    const response = parseResponse(completion);
    return styleScore(prompt.slice('<solve>'.length, -'<sep>'.length), response.ok ? response.value : '');
  });
  const perfect = mean(scores.map((score) => Number(score === 5)));
  expect(perfect).toBeGreaterThan(0.2);
  expect(perfect).toBeLessThan(0.5);
  expect(mean(scores)).toBeLessThan(4.3);
});

test('digits are informative, imperfect, and lean towards length', () => {
  const right = mean(judged.map(({ digit, truth }) => Number(digit === truth)));
  // Three quarters are the truth; a quarter counts words, which is the truth now and then.
  expect(right).toBeGreaterThan(0.73);
  expect(right).toBeLessThan(0.87);
  const agreement = (pick: (item: (typeof judged)[number]) => number) =>
    rankCorrelation(
      judged.map((item) => item.digit),
      judged.map(pick),
    )!;
  expect(agreement(({ truth }) => truth)).toBeGreaterThan(0.6);
  const truthWithLength = rankCorrelation(
    judged.map((j) => j.truth),
    judged.map((j) => j.words),
  )!;
  expect(agreement(({ words }) => words)).toBeGreaterThan(truthWithLength + 0.1);
});

test('the same seed demonstrates the same', () => {
  const again = new Random('style demonstrations');
  expect(drawn.slice(0, 50)).toEqual(Array.from({ length: 50 }, () => demonstrateStyle(again)));
});
