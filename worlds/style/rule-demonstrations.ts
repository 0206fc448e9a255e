/**
 * Demonstrations for a rubric in rules (rules.ts): a responder with its careless habits, a judge of single rules, and an orchestrator that is shown
 * two responses and names a rule that tells them apart. Which of the rules count is not shown to anybody: of two responses either may be called the
 * better one.
 */
import type { Random } from '../../core/random.ts';
import { drawUntil } from '../../core/recipe/split.ts';
import type { Demonstration } from '../demonstration.ts';
import { STOP } from '../worked.ts';
import { habitualResponse, judgedResponse } from './demonstrations.ts';
import { parseStyleTask, randomStyleTask, type StyleTask, stylePrompt } from './family.ts';
import { ALL_RULES, type Edit, orchestratorPrompt, ruleHolds, ruleJudgePrompt, writeEdit } from './rules.ts';

/** How often it is the part of responder, judge and orchestrator. */
const SHARES = [0.2, 0.55, 0.25] as const;
/** How often the judge is asked about a rule for every order, one for the task's order and one for another. */
const ASKED = [0.45, 0.45, 0.1] as const;
/** Most rules of a library before the orchestrator. */
const MOST_RULES = 8;

function askedRule(random: Random, { order }: StyleTask): string {
  const kind = random.weighted([...ASKED]);
  return drawUntil(
    () => random.pick(ALL_RULES),
    (rule) => {
      const where = rule.includes(':') ? rule.split(':')[0] : null;
      return kind === 0 ? where === null : kind === 1 ? where === order : where !== null && where !== order;
    },
  );
}

/** A verdict; for a rule that can be broken, right as often as wrong, as far as a few dozen responses show both. */
function demonstrateVerdict(random: Random, text: string, task: StyleTask): Demonstration {
  const rule = askedRule(random, task);
  const wanted = random.bool();
  let response = judgedResponse(random, task);
  for (let i = 0; i < 30 && ruleHolds(rule, text, response) !== wanted; i++)
    response = judgedResponse(random, task);
  const verdict = ruleHolds(rule, text, response) ? '<right>' : '<wrong>';
  return { role: 'judge', prompt: ruleJudgePrompt(rule, text, response), completion: verdict + STOP };
}

/** What tells two responses apart: rules that hold for the first alone may be added, those of the library that hold for the second alone dropped. */
function tellingEdits(
  task: string,
  [better, worse]: readonly [string, string],
  library: readonly string[],
): { readonly add: Edit[]; readonly drop: Edit[] } {
  const onlyIn = (rule: string, one: string, other: string) =>
    ruleHolds(rule, task, one) && !ruleHolds(rule, task, other);
  return {
    add: ALL_RULES.filter((rule) => !library.includes(rule) && onlyIn(rule, better, worse)).map((rule) => ({
      adds: true,
      rule,
    })),
    drop: library.filter((rule) => onlyIn(rule, worse, better)).map((rule) => ({ adds: false, rule })),
  };
}

function demonstrateEdit(random: Random, text: string, task: StyleTask): Demonstration {
  const library = random.shuffle(ALL_RULES).slice(0, random.int(MOST_RULES + 1));
  const { pair, edits } = drawUntil(
    () => {
      const pair = [judgedResponse(random, task), judgedResponse(random, task)] as const;
      return { pair, edits: tellingEdits(text, pair, library) };
    },
    ({ edits: { add } }) => add.length > 0,
  );
  const drops = edits.drop.length > 0 && random.bool();
  const edit = random.pick(drops ? edits.drop : edits.add);
  const prompt = orchestratorPrompt(library, text, pair[0], pair[1]);
  return { role: 'orchestrator', prompt, completion: writeEdit(edit) + STOP };
}

export function demonstrateRules(random: Random): Demonstration {
  const text = randomStyleTask(random);
  const parsed = parseStyleTask(text);
  if (!parsed.ok) throw new Error(`internal: ${text} is no task: ${parsed.reason}`);
  const role = (['responder', 'judge', 'orchestrator'] as const)[random.weighted([...SHARES])]!;
  if (role === 'judge') return demonstrateVerdict(random, text, parsed.value);
  if (role === 'orchestrator') return demonstrateEdit(random, text, parsed.value);
  return {
    role,
    prompt: stylePrompt(text),
    completion: `<answer>${habitualResponse(random, parsed.value)}${STOP}`,
  };
}
