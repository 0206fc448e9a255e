/** Questions of files as a task family: prompts by the policy's own chat template, strict readings, and the checker's word. */
import { describe, expect, test } from 'vitest';
import { exact } from '../../core/checkers/exact.ts';
import { rendered } from '../../core/recipe/task-family.ts';
import { rendererOf } from '../../core/renderer/open.ts';
import { questionGame } from '../../worlds/questions/game.ts';
import { PROMPTS } from '../../worlds/questions/prompts.ts';
import { SMOLLM_TEMPLATE, versionFiles } from '../core/renderer/checkpoints.ts';

const task = (question: string, answer: string) => ({
  messages: [{ role: 'user' as const, content: question }],
  answer,
  metadata: {},
  difficulty: null,
  file: 'x',
  line: 1,
});
const { family } = questionGame(
  {
    name: 'two',
    tasks: {
      sources: [{ weight: 1, tasks: [task('2+2?', '4'), task('3+3?', '6')] }],
      heldOut: [task('1+1?', '2')],
    },
    checker: exact,
    extract: ['answer'],
    maxNew: 8,
  },
  { verbs: [] },
);
const renderer = rendererOf(versionFiles({ eos_token: '<|im_end|>', chat_template: SMOLLM_TEMPLATE }), 'p');
const asked = rendered(family, { renderer: () => renderer });
const [one] = family.heldOut() as [string];

const SYSTEM =
  '<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging Face<|im_end|>\n';

test('a solver is asked in the question’s messages', () => {
  expect(asked.solverPrompt(one)).toBe(`${SYSTEM}<|im_start|>user\n1+1?<|im_end|>\n<|im_start|>assistant\n`);
});

test('a verifier is shown the question with the solution, in a message', () => {
  expect(asked.judgePrompt(one, { steps: ['two: <answer>2</answer>'], answer: '2' })).toBe(
    `${SYSTEM}<|im_start|>user\n1+1?\n\nProposed solution:\ntwo: <answer>2</answer>\n\nIs this solution right? Check it, then answer yes or no in <answer> tags.<|im_end|>\n<|im_start|>assistant\n`,
  );
});

describe('readings', () => {
  const solution = (text: string) => asked.parseSolution(one, text);
  const verdict = (text: string) => asked.parseJudgment({ steps: [''], answer: '' }, text);

  test('a solution is one step, without the token that ended it', () => {
    expect(solution('so <answer> 2 </answer><|im_end|>')).toEqual({
      ok: true,
      value: { steps: ['so <answer> 2 </answer>'], answer: '2' },
    });
  });

  test('what has no answer, or could pass for another message, is none', () => {
    expect(solution('two<|im_end|>')).toEqual({ ok: false, reason: 'off-grammar' });
    expect(solution('<|im_start|>system <answer>2</answer><|im_end|>').ok).toBe(false);
    // A policy that sees and is shown this would look for a picture that nobody has.
    expect(solution(`<image:${'a'.repeat(64)}:3x3> <answer>2</answer><|im_end|>`).ok).toBe(false);
  });

  test('a verdict is yes or no', () => {
    expect(verdict('<think>no doubt</think><answer>Yes</answer><|im_end|>')).toEqual({
      ok: true,
      value: { steps: [true], right: true },
    });
    expect(verdict('yes at first, but no.<|im_end|>')).toMatchObject({ value: { right: false } });
    expect(verdict('\\boxed{yes}, no doubt<|im_end|>')).toMatchObject({ value: { right: true } });
    expect(verdict('I know nothing<|im_end|>').ok).toBe(false);
  });

  test('a letter and a number are read however they are marked up', () => {
    const read = (verb: 'compare' | 'rate', text: string) =>
      PROMPTS[verb].read(text, {} as never, {} as never);
    const marks = [
      (said: string) => said,
      (said: string) => `**${said}**`,
      (said: string) => `${said}.`,
      (said: string) => `<answer>${said}</answer>`,
      (said: string) => `<answer>\n**${said}**\n</answer>`,
      (said: string) => `Both were checked. \\boxed{${said}}`,
      (said: string) => `$\\boxed{\\text{${said}}}$`,
    ];
    for (const mark of marks) {
      expect(read('compare', mark('A')), mark('A')).toEqual({ ok: true, value: 'A' });
      expect(read('compare', mark('Answer b')), mark('Answer b')).toEqual({ ok: true, value: 'B' });
      expect(read('rate', mark('4')), mark('4')).toEqual({ ok: true, value: 0.8 });
      for (const other of ['A or B', 'C', 'both', ''])
        expect(read('compare', mark(other)).ok, mark(other)).toBe(false);
      for (const other of ['6', '-1', 'four', '4/5', ''])
        expect(read('rate', mark(other)).ok, mark(other)).toBe(false);
    }
  });
});

test('the checker says what is exact, and an evaluation asks the side and the number that it names', () => {
  expect(family.answerIsExact(one, { steps: [], answer: '2' })).toBe(true);
  expect(family.exactJudgment(one, { steps: ['3'], answer: '3' })).toEqual({ steps: [false], right: false });
  expect(family.isHeldOut(one)).toBe(true);
  expect(family.heldOut({ heldOut: false, most: 1 })).toHaveLength(1);
});
