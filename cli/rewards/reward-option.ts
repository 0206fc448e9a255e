/** Parses `--reward checker=1,./length.ts=0.2`: named rewards with their weights, each a name, the path of a module, an address, a rubric with the policy that judges by it, or a reward model. */
import { basename } from 'node:path';
import * as v from 'valibot';
import { wrongInput } from '../../core/errors.ts';
import { name as nameSchema } from '../../core/schema/sample.ts';
import { nearest } from '../../core/text/nearest.ts';
import { QUESTION_REWARDS } from '../../protocols/questions/rewards.ts';
import { TOTAL } from '../../protocols/questions/weighted-reward.ts';

/** A reward of a sum as the user named it. */
export interface AskedReward {
  readonly name: string;
  readonly weight: number;
  readonly from:
    | { readonly builtIn: string }
    | { readonly module: string }
    | { readonly url: string }
    | JudgedReward
    | { readonly model: JudgedReward['policy'] };
}

/** The path of a rubric, and who judges by it. */
export interface JudgedReward {
  readonly rubric: string;
  readonly policy: { readonly name: string; readonly version: number };
}

const BUILT_IN = Object.keys(QUESTION_REWARDS);

const isModule = (source: string) => /\.[cm]?[jt]s$/.test(source);

/** The stream's name for a module: its file's name without the ending. */
const moduleName = (path: string) =>
  basename(path)
    .replace(/\.[cm]?[jt]s$/, '')
    .toLowerCase();

/** The stream's name for a rubric: its file's name without the endings. */
const rubricName = (path: string) =>
  basename(path)
    .replace(/(?:\.rubric)?\.json$/, '')
    .toLowerCase();

/** A rubric with its judge, `FILE.json@POLICY@VERSION`; null for another source. Throws `reward.judge` where no exact version is named. */
function judgedBy(source: string): JudgedReward | null {
  const [, rubric, judge] = /^(.+?\.json)(@.*)?$/.exec(source) ?? [];
  if (rubric === undefined) return null;
  const [, name, version] = /^@([^@]+)@(\d+)$/.exec(judge ?? '') ?? [];
  if (v.is(nameSchema, name) && Number.isSafeInteger(Number(version)))
    return { rubric, policy: { name, version: Number(version) } };
  throw wrongInput(
    'reward.judge',
    `The rubric ${rubric} is given ${judge === undefined ? 'no judge' : `the judge ${judge.slice(1) || '(none)'}`}.`,
    {
      expected: 'an exact version of a policy of the mesh after it, as in ./style.json@words@0=0.5',
      next: 'Run `npx rollmesh policy list` for the policies and their versions.',
    },
  );
}

/** A reward model, `POLICY@VERSION`; null for another source. */
function modelOf(source: string): JudgedReward['policy'] | null {
  const [, name, version] = /^([^@/]+)@(\d+)$/.exec(source) ?? [];
  return v.is(nameSchema, name) && Number.isSafeInteger(Number(version))
    ? { name, version: Number(version) }
    : null;
}

export interface RewardModelOption {
  /** `NAME@N` or `NAME@N=WEIGHT`, each. */
  readonly rewardModel?: readonly string[];
}

/** The rewards that `--reward` and `--reward-model` name together; undefined where neither is given. */
export function joinedRewards(
  reward: string | undefined,
  rewardModel: readonly string[],
): string | undefined {
  const wrong = rewardModel.find((one) => !modelOf(one.replace(/=[^=]*$/, '').trim()));
  if (wrong !== undefined)
    throw wrongInput('reward.model', `${JSON.stringify(wrong)} names no reward model.`, {
      expected: 'an exact version of a policy, with a weight if it has one: NAME@N or NAME@N=0.5',
      next: 'Run `npx rollmesh policy list` for the policies and their versions.',
    });
  return rewardModel.length ? [...(reward === undefined ? [] : [reward]), ...rewardModel].join(',') : reward;
}

/** The stream's name for a service: the last part of its path, or its host. */
const serviceName = ({ pathname, hostname }: URL) =>
  (pathname.split('/').filter(Boolean).at(-1) ?? hostname).toLowerCase();

/** Throws `reward.url` for an address that would send tasks and answers in the clear, or carries a password. */
function serviceUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  const isLocal = url !== null && ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname);
  if (url && !url.username && !url.password && (url.protocol === 'https:' || isLocal)) return url;
  throw wrongInput('reward.url', `The service ${text} cannot be asked.`, {
    expected: 'an https address without a password, or http on this machine',
  });
}

function asked(text: string): AskedReward {
  const at = /^(.+)=([^=]+)$/.exec(text.trim());
  const source = at ? at[1]!.trim() : text.trim();
  const weight = at ? Number(at[2]) : 1;
  if (!Number.isFinite(weight) || weight === 0)
    throw wrongInput('reward.weight', `The reward ${source} has the weight ${at?.[2]}.`, {
      expected: 'a number other than 0, as in checker=1,./length.ts=0.2',
    });
  if (BUILT_IN.includes(source)) return { name: source, weight, from: { builtIn: source } };
  if (/^https?:/.test(source)) {
    const url = serviceUrl(source);
    return { name: serviceName(url), weight, from: { url: url.href } };
  }
  const judged = judgedBy(source);
  if (judged) return { name: rubricName(judged.rubric), weight, from: judged };
  if (isModule(source)) return { name: moduleName(source), weight, from: { module: source } };
  const model = modelOf(source);
  if (model) return { name: model.name, weight, from: { model } };
  const meant = nearest(source, BUILT_IN);
  throw wrongInput('reward.unknown', `There is no reward ${JSON.stringify(source)}.`, {
    expected: `${meant === undefined ? '' : `${meant}, perhaps, or `}one of ${BUILT_IN.join(', ')}, the path of a module such as ./reward.ts, the address of a service, a rubric with its judge such as ./style.json@words@0, or a reward model such as rm@3`,
  });
}

/**
 * The rewards of a sum; null for one plain name, which the recipe knows itself. Throws `wrong-input` for what is no reward and for names
 * that occur twice.
 */
export function parseRewards(text: string): AskedReward[] | null {
  if (/^[\w-]+$/.test(text)) return null;
  const rewards = text.split(',').map(asked);
  const names = rewards.map(({ name }) => name);
  for (const [i, name] of names.entries()) {
    if (names.indexOf(name) < i)
      throw wrongInput('reward.twice', `Two rewards have the name ${name}.`, {
        expected: 'a name of its own for each: a module and a rubric have that of their file',
      });
    if (name === TOTAL || !v.is(nameSchema, name))
      throw wrongInput('reward.name', `A reward cannot have the name ${JSON.stringify(name)}.`, {
        expected: `lower-case letters, digits and dashes, and not ${TOTAL}, which is the sum`,
        next: 'Rename the file of the module or of the rubric, or the last part of the service’s path.',
      });
  }
  return rewards;
}
