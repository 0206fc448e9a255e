/** Plays a round of a recipe with one solver whose answers are written by the test. */
import { playStages } from '../../core/roles/play-stages.ts';
import { openStage } from '../../core/roles/stage.ts';
import { roundOf } from '../../core/schema/round.ts';
import type { LearnTools, Lesson, PolicyPart } from '../../core/training.ts';
import { shipped } from '../../recipes/index.ts';
import type { RunOrder } from '../../recipes/run-order.ts';
import { bindingsOf, runOf } from '../../recipes/run-order.ts';
import { scriptedPolicy, textTokenizer } from '../roles/scripted-policy.ts';

/** `answer` gives the text of the i-th sample of a task, without its stop token; other roles' prompts come as they are. */
export async function playSolver(
  order: Partial<RunOrder> & Pick<RunOrder, 'recipe'>,
  answer: (task: string, i: number) => string,
  index = 1,
  remembered?: unknown,
) {
  const { recipe, settings } = runOf(shipped, { seed: 0, rounds: 1, freeze: [], ...order });
  const tokenizer = textTokenizer();
  const round = roundOf(settings, bindingsOf(recipe, settings), index, index - 1);
  const policy = scriptedPolicy(
    tokenizer,
    (prompt, _, i) => `${answer(prompt.replace('<solve>', '').replace('<sep>', ''), i)}<eos>`,
  );
  const memory = () => Promise.resolve(remembered);
  const stage = openStage({ recipe, round, tokenizer, memory, use: (_ref, work) => work(policy) });
  const played = await playStages(stage);
  const records = { round, ...played, memory: remembered, version: index - 1 };
  const tools = { decode: tokenizer.decode } as LearnTools;
  const lesson = await recipe.learn(records, tools);
  return { ...played, round, lesson };
}

export const policyPart = ({ updates }: Lesson) => updates[0]!.parts[0] as PolicyPart;
