/**
 * The start that looks at maps. It knows how to look, says what it sees and answers by that; but it mostly answers after one glance at the blurred whole. It is also taught
 * to reason without seeing, to say what is in a part, and to verify what was said, which it does at random where much was said.
 */
import type { Random } from '../../core/random.ts';
import { mean } from '../../core/rl/statistics.ts';
import type { Demonstration } from '../demonstration.ts';
import type { AskedPolicy, Gate } from '../gate.ts';
import { STOP } from '../worked.ts';
import {
  type Asked,
  answerFrom,
  heldOutMaps,
  type Look,
  lookAt,
  lookedPrompt,
  MAP_KINDS,
  MAP_WORDS,
  mapPrompt,
  PARTS,
  randomMapTask,
  readMap,
  reasonPrompt,
  rightnessOf,
  sightOf,
  sightPrompt,
  thingsIn,
  writeAct,
  writeTurn,
} from './maps.ts';
import { DESCRIBE, describe } from './questions.ts';
import type { Scene } from './scene.ts';
import { canvasTokenizer } from './tokenizer.ts';
import {
  readVerdict,
  VERDICT_WORDS,
  verdictText,
  verifyAnswerPrompt,
  verifySightPrompt,
} from './verdicts.ts';

export const lookingTokenizer = () => canvasTokenizer([...new Set([...MAP_WORDS, ...VERDICT_WORDS])]);

/** Shares of what it is taught. */
const SHARES = { describer: 0.15, perceiver: 0.42, solver: 0.18, reasoner: 0.07, verifier: 0.18 } as const;
type Taught = keyof typeof SHARES;
const TAUGHT = Object.keys(SHARES) as Taught[];
/** How often the solver answers after one glance, and how often somebody answers before all parts were looked at. */
const GLANCES = 0.35;
const HASTY = { solver: 0.4, reasoner: 0.2 } as const;
/** How often the solver says of a part what holds of another map, and how often a verdict is drawn at random where there are several shapes. */
const CARELESS = { solver: 0.1, verifier: 0.4 } as const;
/** How often the end of a trace is shown, where all that was said is put together. */
const ENDS = 0.6;

/** A task, and what is said of parts of it in turn until somebody answers. */
function trace(random: Random, hasty: number) {
  const task = randomMapTask(random, random.pick(MAP_KINDS));
  const { scene, ...asked } = readMap(task)!;
  const order = random.shuffle([...PARTS]);
  const looked = random.bool(hasty) ? 1 + random.int(PARTS.length) : PARTS.length;
  const seenIn = (parts: readonly number[]) => parts.flatMap((part) => thingsIn(scene, part));
  // Whoever has seen nothing of what is asked about goes on looking.
  const ends = PARTS.find((n) => n >= looked && answerFrom(asked, seenIn(order.slice(0, n))) !== null)!;
  const looks = order
    .slice(0, ends)
    .map((part): Look => ({ part, seen: sightOf(asked, thingsIn(scene, part)) }));
  return { task, asked, scene, looks, answer: answerFrom(asked, seenIn(order.slice(0, ends)))! };
}

/** What is said of a part of another map. */
function otherSight(random: Random, { kind }: Asked): string {
  const { scene, ...asked } = readMap(randomMapTask(random, kind))!;
  return sightOf(asked, thingsIn(scene, random.pick(PARTS)));
}

function solve(random: Random): Demonstration {
  const { task, asked, scene, looks, answer } = trace(random, HASTY.solver);
  const begin = mapPrompt(task);
  if (random.bool(GLANCES)) {
    const right = answerFrom(asked, scene.things)!;
    return { role: 'solver', prompt: begin, completion: writeAct({ answer: right }) + STOP };
  }
  const turn = random.bool(ENDS) ? looks.length : random.int(looks.length + 1);
  const act = looks[turn] ? { look: looks[turn].part } : { answer };
  const last = looks[turn - 1];
  if (!last) return { role: 'solver', prompt: begin, completion: writeAct(act) + STOP };
  const seen = random.bool(CARELESS.solver) ? otherSight(random, asked) : last.seen;
  return {
    role: 'solver',
    prompt: lookedPrompt(task, scene, looks.slice(0, turn - 1), last.part),
    completion: writeTurn(seen, act) + STOP,
  };
}

/** A part with something in it, more often than not. */
function somePart(random: Random, scene: Scene): number {
  const full = PARTS.filter((part) => thingsIn(scene, part).length);
  return random.pick(random.bool(0.8) ? full : PARTS);
}

/** Everything that is in a part: what sees shapes learns answers in less time. */
function describePart(random: Random): Demonstration {
  const { scene } = readMap(randomMapTask(random, 'which'))!;
  const part = somePart(random, scene);
  const things = thingsIn(scene, part);
  return {
    role: 'describer',
    prompt: lookAt(scene, part) + DESCRIBE,
    completion: (things.length ? describe({ things }) : 'nothing') + STOP,
  };
}

function perceive(random: Random): Demonstration {
  const task = randomMapTask(random, random.pick(MAP_KINDS));
  const { scene, ...asked } = readMap(task)!;
  const part = somePart(random, scene);
  return {
    role: 'perceiver',
    prompt: sightPrompt(task, lookAt(scene, part), part),
    completion: sightOf(asked, thingsIn(scene, part)) + STOP,
  };
}

function reason(random: Random): Demonstration {
  const { task, looks, answer } = trace(random, HASTY.reasoner);
  const turn = random.bool(ENDS) ? looks.length : random.int(looks.length + 1);
  const act = looks[turn] ? { look: looks[turn].part } : { answer };
  return {
    role: 'reasoner',
    prompt: reasonPrompt(task, looks.slice(0, turn)),
    completion: writeAct(act) + STOP,
  };
}

function verify(random: Random): Demonstration {
  const said = (found: string, right: boolean, much: boolean) => {
    const verdict = much && random.bool(CARELESS.verifier) ? random.bool() : right;
    return verdictText({ found, right: verdict, sure: !much }) + STOP;
  };
  const { task, asked, scene, looks, answer } = trace(random, HASTY.reasoner);
  const isRight = random.bool();
  if (random.bool(0.3)) {
    const shown = isRight ? answer : trace(random, 0).answer;
    return {
      role: 'verifier',
      prompt: verifyAnswerPrompt(task, looks, shown),
      completion: said(answer, shown === answer, scene.things.length > 3),
    };
  }
  const part = somePart(random, scene);
  const things = thingsIn(scene, part);
  const found = sightOf(asked, things);
  const seen = isRight ? found : otherSight(random, asked);
  return {
    role: 'verifier',
    prompt: verifySightPrompt(task, lookAt(scene, part), { part, seen }),
    completion: said(found, seen === found, things.length > 1),
  };
}

const TEACH: Readonly<Record<Taught, (random: Random) => Demonstration>> = {
  describer: describePart,
  perceiver: perceive,
  solver: solve,
  reasoner: reason,
  verifier: verify,
};

export const demonstrateLooking = (random: Random): Demonstration =>
  TEACH[TAUGHT[random.weighted(Object.values(SHARES))]!](random);

/** It sees what is in a part, sees less of it at a glance, and tells some of what was seen wrongly. */
export async function lookingGates({ tokenizer, generate }: AskedPolicy): Promise<Gate[]> {
  const say = async (prompts: readonly string[]): Promise<string[]> => {
    const made = await generate(
      prompts.map((prompt) => ({ ids: tokenizer.encode(prompt), sampleIds: ['greedy'] })),
      { maxNew: 46, temperature: 0, stop: [tokenizer.id(STOP)] },
    );
    return made.map(([completion]) => tokenizer.decode(completion!.ids));
  };
  const tasks = MAP_KINDS.flatMap((kind) => heldOutMaps(kind)({ heldOut: true, most: 60 }));
  const parts = tasks.flatMap((task) => {
    const { scene, ...asked } = readMap(task)!;
    return PARTS.map((part) => {
      const things = thingsIn(scene, part);
      return { task, part, things, view: lookAt(scene, part), seen: sightOf(asked, things) };
    }).filter(({ things }) => things.length);
  });
  const seen = await say(parts.map(({ task, view, part }) => sightPrompt(task, view, part)));
  const told = tasks.map((task) => {
    const { scene, ...asked } = readMap(task)!;
    return PARTS.map((part): Look => ({ part, seen: sightOf(asked, thingsIn(scene, part)) }));
  });
  const answers = await say(tasks.map((task, t) => reasonPrompt(task, told[t]!)));
  const glances = await say(tasks.map((task) => `${mapPrompt(task)}Answer:`));
  // What was said of a part, and what was said of the part before it.
  const judged = parts.flatMap((each, p) => {
    const other = parts.at(p - 1)!.seen;
    return [each.seen, other].map((said) => ({
      prompt: verifySightPrompt(each.task, each.view, { part: each.part, seen: said }),
      right: said === each.seen,
    }));
  });
  const verdicts = await say(judged.map(({ prompt }) => prompt));
  const agrees = judged.map(({ right }, i) => {
    const read = readVerdict(verdicts[i]!);
    return { right, hit: Number(read.ok && read.value.right === right) };
  });
  const hits = (of: boolean) => mean(agrees.filter(({ right }) => right === of).map(({ hit }) => hit));
  const rightness = (texts: readonly string[], from: number) =>
    mean(tasks.map((task, t) => rightnessOf(task, texts[t]!.slice(from, -STOP.length))));
  const reasoned = rightness(answers, 'Answer:'.length);
  return [
    {
      description: 'parts in which something is, told exactly, greedy',
      value: mean(seen.map((text, i) => Number(text === parts[i]!.seen + STOP))),
      least: 0.6,
    },
    {
      description: 'answers by what all parts hold, without seeing, greedy: mean rightness',
      value: reasoned,
      least: 0.6,
    },
    {
      description: 'answers after one glance, greedy: mean rightness',
      value: rightness(glances, 0),
      most: Math.max(0, reasoned - 0.05),
    },
    {
      description: 'verdicts that agree, on right and on wrong words about a part alike, greedy',
      value: (hits(true) + hits(false)) / 2,
      least: 0.6,
      most: 0.98,
    },
  ];
}
