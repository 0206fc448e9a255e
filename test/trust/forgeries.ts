/** Ways to forge a record, each as a forger who knows the whole project would do it: everything else is made to fit. */
import type { AuditTools, RoundRecord } from '../../core/audit/audit-round.ts';
import { recordedPolicy } from '../../core/audit/recorded-policy.ts';
import type { Policy, PolicyRef } from '../../core/policy/policy.ts';
import type { Random } from '../../core/random.ts';
import { openRoundContext, type RoundContext } from '../../core/recipe/round-context.ts';
import type { Sample, ScoredGroup } from '../../core/schema/sample.ts';

export interface Scene {
  readonly record: RoundRecord;
  readonly tools: AuditTools;
  /** A round of the same run, to copy from. */
  readonly other: RoundRecord;
}

/** Returns the forged record and the group it is in; null = the proposals. */
export type Forgery = (
  scene: Scene,
  random: Random,
) => Promise<{ record: RoundRecord; group: string | null } | null>;

const withGroup = (record: RoundRecord, forged: ScoredGroup, at = forged.group): RoundRecord => ({
  ...record,
  groups: record.groups.map((group) => (group.group === at ? forged : group)),
});

const withSample = <T extends { samples: Sample[] }>(of: T, i: number, sample: Sample): T => ({
  ...of,
  samples: of.samples.map((old, j) => (j === i ? sample : old)),
});

/** Outcomes, judgments' places and rewards as the mesh's own functions make them of these completions. */
async function consistent({ record, tools }: Scene, forged: ScoredGroup): Promise<ScoredGroup> {
  const { recipe } = record;
  const context = playingBack(record, tools, [...forged.samples, ...forged.judgments]);
  const task = record.proposals.tasks.find(({ group }) => group === forged.group)!;
  const [group] = await recipe.judge(context, await recipe.rollOut(context, [task]));
  return group!;
}

/**
 * A stage in which every sample id says what the forger wants it to say, whatever it is asked: what was said of the honest
 * text is said of the forged one, and who is asked for the first time says what some judgment of the round says.
 */
function playingBack(
  { recipe, round, groups }: RoundRecord,
  { tokenizer, recipeState }: AuditTools,
  samples: readonly Sample[],
): RoundContext {
  const said = new Map(samples.map((sample) => [sample.id, sample]));
  const any = groups.flatMap(({ judgments }) => judgments)[0]!;
  const policy = (ref: PolicyRef): Policy => ({
    ...recordedPolicy(ref, { samples: [] }),
    generate: async (prompts) =>
      prompts.map(({ sampleIds }) =>
        sampleIds.map((id) => {
          const { ids, logprobs, stopped } = said.get(id) ?? any;
          return { ids: [...ids], logprobs: [...logprobs], stopped };
        }),
      ),
  });
  return openRoundContext({ recipe, round, tokenizer, recipeState, use: (ref, work) => work(policy(ref)) });
}

/** A step or an answer that is another digit: the text stays well-formed, and may even become right. */
function otherDigit(ids: readonly number[], tools: AuditTools, random: Random): number[] | null {
  const { tokenizer } = tools;
  const digits = [...'123456789'].map((digit) => tokenizer.id(digit));
  const places = ids.flatMap((id, i) => (digits.includes(id) ? [i] : []));
  if (!places.length) return null;
  const place = random.pick(places);
  return ids.map((id, i) => (i === place ? random.pick(digits.filter((digit) => digit !== id)) : id));
}

const pickSample = ({ record }: Scene, random: Random) => {
  const group = random.pick(record.groups);
  const i = random.int(group.samples.length);
  return { group, i, sample: group.samples[i]! };
};

/** The next float32 away from zero: the smallest lie that the runtime could have told. */
function nextFloat(value: number): number {
  const bits = new DataView(new ArrayBuffer(4));
  bits.setFloat32(0, value);
  bits.setInt32(0, bits.getInt32(0) + 1);
  return bits.getFloat32(0);
}

const token: Forgery = async (scene, random) => {
  const { group, i, sample } = pickSample(scene, random);
  const ids = otherDigit(sample.ids, scene.tools, random);
  if (!ids) return null;
  const forged = await consistent(scene, withSample(group, i, { ...sample, ids }));
  return { record: withGroup(scene.record, forged), group: group.group };
};

const logProbability: Forgery = async (scene, random) => {
  const { group, i, sample } = pickSample(scene, random);
  const at = random.int(sample.logprobs.length);
  const logprobs = sample.logprobs.map((value, t) => (t === at ? nextFloat(value) : value));
  return {
    record: withGroup(scene.record, withSample(group, i, { ...sample, logprobs })),
    group: group.group,
  };
};

const verdict: Forgery = async (scene, random) => {
  const tokenizer = scene.tools.tokenizer;
  const [right, wrong] = [tokenizer.id('<right>'), tokenizer.id('<wrong>')];
  const group = random.pick(scene.record.groups);
  const i = random.int(group.judgments.length || 1);
  const judgment = group.judgments[i];
  if (!judgment?.ids.includes(right)) return null;
  const ids = judgment.ids.map((id) => (id === right ? wrong : id));
  const judgments = group.judgments.map((old, j) => (j === i ? { ...judgment, ids } : old));
  const forged = await consistent(scene, { ...group, judgments });
  return { record: withGroup(scene.record, forged), group: group.group };
};

const reward: Forgery = async (scene, random) => {
  const { group, i, sample } = pickSample(scene, random);
  const rewards = { ...sample.rewards, reward: sample.rewards.reward === 1 ? 0 : 1 };
  return {
    record: withGroup(scene.record, withSample(group, i, { ...sample, rewards })),
    group: group.group,
  };
};

/** A rollout drawn under a seed of the forger's choice, until it pleased. */
const sampleId: Forgery = async (scene, random) => {
  const { group, i, sample } = pickSample(scene, random);
  const id = sample.id.replace(/./g, () => random.int(16).toString(16));
  const judgments = group.judgments.map((old) => (old.of === sample.id ? { ...old, of: id } : old));
  return {
    record: withGroup(scene.record, { ...withSample(group, i, { ...sample, id }), judgments }),
    group: group.group,
  };
};

/** Another seed's completion under the right id. */
const borrowed: Forgery = async (scene, random) => {
  const { group, i, sample } = pickSample(scene, random);
  const from = group.samples[(i + 1) % group.samples.length]!;
  if (JSON.stringify(from.ids) === JSON.stringify(sample.ids)) return null;
  const { ids, logprobs, stopped } = from;
  const forged = await consistent(scene, withSample(group, i, { ...sample, ids, logprobs, stopped }));
  return { record: withGroup(scene.record, forged), group: group.group };
};

const version: Forgery = async (scene, random) => {
  const { group, i, sample } = pickSample(scene, random);
  const policy = { ...sample.policy, version: sample.policy.version + 1 };
  return { record: withGroup(scene.record, withSample(group, i, { ...sample, policy })), group: group.group };
};

const provenance: Forgery = async ({ record, other }, random) => {
  const group = random.pick(record.groups);
  const copy = random.pick(other.groups);
  return { record: withGroup(record, { ...copy, group: group.group }, group.group), group: group.group };
};

/** The same, with round, group and task renamed to fit. */
const renamedCopy: Forgery = async ({ record, other }, random) => {
  const { round, group, index, task, proposal } = random.pick(record.groups);
  const copy = { ...random.pick(other.groups), round, group, index, task, proposal };
  return { record: withGroup(record, copy), group };
};

const proposal: Forgery = async (scene, random) => {
  const { record, tools } = scene;
  const i = random.int(record.proposals.samples.length);
  const sample = record.proposals.samples[i]!;
  const ids = otherDigit(sample.ids, tools, random);
  if (!ids) return null;
  const { samples } = withSample(record.proposals, i, { ...sample, ids });
  const proposals = await record.recipe.propose(playingBack(record, tools, samples));
  return { record: { ...record, proposals }, group: null };
};

/** A judge that looks better or worse than it is. */
const oracle: Forgery = async ({ record }, random) => {
  const group = random.pick(record.groups);
  const i = random.int(group.judgments.length);
  const word = group.judgments[i]?.oracle;
  if (!word) return null;
  const forged = { ...group.judgments[i]!, oracle: { ...word, hit: !word.hit } };
  const judgments = group.judgments.map((old, j) => (j === i ? forged : old));
  return { record: withGroup(record, { ...group, judgments }), group: group.group };
};

/** Something of one sample that no other record depends on. */
const inOneSample =
  (change: (sample: Sample, scene: Scene) => Partial<Sample>): Forgery =>
  async (scene, random) => {
    const { group, i, sample } = pickSample(scene, random);
    const forged = withSample(group, i, { ...sample, ...change(sample, scene) });
    return { record: withGroup(scene.record, forged), group: group.group };
  };

/** As if the sample stood at another place of its episode. */
const turn = inOneSample((sample) => ({ turn: (sample.turn ?? 0) + 1 }));

/** What a sample was asked about says which task a recipe credits, and so who is paid. */
const about = inOneSample((sample) => ({ about: `${sample.about ?? ''}+1` }));

/** Certainty is a log-probability of 0; above it there is nothing, and an importance ratio gains by it. */
const impossible = inOneSample((sample) => ({ logprobs: [0.5, ...sample.logprobs.slice(1)] }));

const stopFlag = inOneSample((sample) => ({ stopped: !sample.stopped }));

/** Tokens after the end, with log-probabilities, which no parser of the text would mind. */
const afterTheEnd = inOneSample((sample) => ({
  ids: [...sample.ids, sample.ids.at(-1)!],
  logprobs: [...sample.logprobs, 0],
}));

/** The oracle's word on a judgment, taken away. */
const noOracle: Forgery = async ({ record }, random) => {
  const group = random.pick(record.groups);
  const i = random.int(group.judgments.length);
  if (!group.judgments[i]?.oracle) return null;
  const { oracle: _, ...forged } = group.judgments[i]!;
  const judgments = group.judgments.map((old, j) => (j === i ? forged : old));
  return { record: withGroup(record, { ...group, judgments }), group: group.group };
};

const without = <T>(list: readonly T[], at: number): T[] => list.filter((_, i) => i !== at);

/** A rollout that did not please is left out, with everything that is said of it. */
const dropped: Forgery = async (scene, random) => {
  const { group, i, sample } = pickSample(scene, random);
  const forged = {
    ...group,
    samples: without(group.samples, i),
    judgments: group.judgments.filter(({ of }) => of !== sample.id),
    answersExact: without(group.answersExact, i),
    solutionsExact: without(group.solutionsExact, i),
  };
  return { record: withGroup(scene.record, forged), group: group.group };
};

/** The best of another group's rollouts, as it stands there. */
const exchanged: Forgery = async (scene, random) => {
  const [one, two] = [pickSample(scene, random), pickSample(scene, random)];
  if (one.group === two.group) return null;
  const record = withGroup(scene.record, withSample(one.group, one.i, two.sample));
  return { record: withGroup(record, withSample(two.group, two.i, one.sample)), group: one.group.group };
};

const droppedJudgment: Forgery = async ({ record }, random) => {
  const group = random.pick(record.groups);
  if (!group.judgments.length) return null;
  const judgments = without(group.judgments, random.int(group.judgments.length));
  return { record: withGroup(record, { ...group, judgments }), group: group.group };
};

/** What was said of one rollout, said of another. */
const exchangedJudgments: Forgery = async ({ record }, random) => {
  const group = random.pick(record.groups);
  const [one, two, ...rest] = group.judgments;
  if (!one || !two || one.of === two.of) return null;
  const judgments = [{ ...two, of: one.of }, { ...one, of: two.of }, ...rest];
  return { record: withGroup(record, { ...group, judgments }), group: group.group };
};

const anotherStream = inOneSample(({ rewards }) => ({ rewards: { ...rewards, bonus: 1 } }));

/** What the exact checker says of an answer, turned round. */
const turnedCheck: Forgery = async (scene, random) => {
  const { group, i } = pickSample(scene, random);
  if (group.answersExact[i] === null) return null;
  const answersExact = group.answersExact.map((exact, j) => (j === i ? !exact : exact));
  return { record: withGroup(scene.record, { ...group, answersExact }), group: group.group };
};

/** `needsModel`: nothing but drawing again can tell. */
export const FORGERIES: readonly {
  readonly name: string;
  readonly needsModel: boolean;
  readonly forge: Forgery;
}[] = [
  { name: 'token', needsModel: true, forge: token },
  { name: 'log-probability, one bit', needsModel: true, forge: logProbability },
  { name: 'verdict of the judge', needsModel: true, forge: verdict },
  { name: 'completion of another seed', needsModel: true, forge: borrowed },
  { name: 'proposal', needsModel: true, forge: proposal },
  { name: 'seed (sample id)', needsModel: false, forge: sampleId },
  { name: 'reward', needsModel: false, forge: reward },
  { name: 'oracle’s word on a judgment', needsModel: false, forge: oracle },
  { name: 'oracle’s word taken away', needsModel: false, forge: noOracle },
  { name: 'turn', needsModel: false, forge: turn },
  { name: 'what it was asked about', needsModel: false, forge: about },
  { name: 'log-probability above 0', needsModel: false, forge: impossible },
  { name: 'stop flag', needsModel: false, forge: stopFlag },
  { name: 'tokens after the end', needsModel: false, forge: afterTheEnd },
  { name: 'version', needsModel: false, forge: version },
  { name: 'rollout left out', needsModel: false, forge: dropped },
  { name: 'rollouts of two groups exchanged', needsModel: false, forge: exchanged },
  { name: 'judgment left out', needsModel: false, forge: droppedJudgment },
  { name: 'judgments of two rollouts exchanged', needsModel: false, forge: exchangedJudgments },
  { name: 'another reward stream', needsModel: false, forge: anotherStream },
  { name: 'exact check turned round', needsModel: false, forge: turnedCheck },
  { name: 'group of another round', needsModel: false, forge: provenance },
  { name: 'group of another round, renamed', needsModel: false, forge: renamedCopy },
];
