/**
 * Plays episodes in which several seats write by turns or at once. The state of a world says who is to write and what each reads first. Every seat has
 * a history of its own, as token ids, and is played by a role: that decides its version and its weights. The record has one sample per turn, whose
 * prompt is all that its seat has read and written: only what the seat itself wrote can carry a loss.
 */

import { RollmeshError } from '../errors.ts';
import type { GeneratePrompt, SamplingSettings, TokenIds } from '../policy/policy.ts';
import { type RoundContext, sampleOf, samplingOf } from '../recipe/round-context.ts';
import type { Message, Tool } from '../renderer/message.ts';
import type { PolicyText } from '../renderer/policy-text.ts';
import type { Dialogue } from '../renderer/renderer.ts';
import { turnId } from '../round/sample-ids.ts';
import type { Outcome } from '../schema/outcome.ts';
import type { Sample } from '../schema/sample.ts';

/** Who plays a seat in an episode. */
export interface Seated {
  readonly role: string;
  /** Keys the random numbers of its turns; no other episode has it. */
  readonly id: string;
  /** Another context whose version of the role plays, as an earlier one in an evaluation; default that of the call. */
  readonly by?: RoundContext;
}

export interface SeatsBeginning<World> {
  /** By the name of the seat. */
  readonly seats: Readonly<Record<string, Seated>>;
  /** Its number among the rollouts of its task. */
  readonly episode?: number;
  readonly world: World;
}

/** A seat that is to write. */
export interface Reading {
  readonly seat: string;
  /** What it reads first, after what it has read and written: text as the policy reads it, or messages for the policy's chat template. */
  readonly reads: string | readonly Message[];
  /** It reads this alone: what it read and wrote before is not in its prompt. */
  readonly anew?: true;
}

/** What a seat wrote. */
export interface Written {
  readonly seat: string;
  /** With the token that ended it. */
  readonly text: string;
  /** How the policy that wrote it reads and writes. */
  readonly speaker: PolicyText;
}

export interface SeatsRules<World> {
  /** The seats that write now: one, or several that do not see each other's texts. None: the episode is over. */
  readonly next: (world: World) => readonly Reading[];
  /** What becomes of the world, and of each text that was asked for, in the order of `next`. An outcome is `ok`, or why the text is no valid turn. */
  readonly answer: (
    world: World,
    texts: readonly Written[],
  ) => { readonly world: World; readonly outcomes: readonly Outcome[] };
  /** Turns of an episode at most, over all seats. */
  readonly maxTurns: number;
  /** Tokens at most that all seats together write in an episode; no turn begins that could go beyond. Default: as many as fit. */
  readonly maxTokens?: number;
  readonly sampling?: Partial<SamplingSettings>;
  /** What seats that are asked in messages may call, as their chat template describes it. */
  readonly tools?: readonly Tool[];
}

/** Why an episode ended: the world says so, its turns or tokens were used up, or a seat's history leaves no room for a turn. */
export type Ended = 'over' | 'turns' | 'tokens' | 'no-room';

export interface SeatsPlayed<World> {
  readonly world: World;
  /** In the order written, those of all seats. */
  readonly turns: readonly Sample[];
  readonly ended: Ended;
}

/** What a seat has read and written. */
interface History {
  readonly ids: TokenIds;
  /** Where it is asked in messages. */
  readonly dialogue?: Dialogue | undefined;
}

interface Running<World> {
  readonly beginning: SeatsBeginning<World>;
  world: World;
  readonly turns: Sample[];
  readonly histories: Map<string, History>;
  /** The first sample of each seat. */
  readonly firsts: Map<string, string>;
  ended?: Ended;
}

/** Who speaks for a seat: a role of a context, and how its policy reads and writes. */
interface Voice {
  readonly context: RoundContext;
  readonly role: string;
  readonly speaker: PolicyText;
  /** Tokens of a turn at most. */
  readonly longest: number;
}
type VoiceOf = (seated: Seated) => Voice;

/** A turn that is to be sampled. */
interface Asked {
  readonly seat: string;
  readonly id: string;
  readonly voice: Voice;
  readonly turn: number;
  readonly prompt: History;
}

/** Plays all episodes side by side, in the order given. An episode gets the same turns whatever is played in the same call. */
export async function playSeats<World>(
  context: RoundContext,
  beginnings: readonly SeatsBeginning<World>[],
  rules: SeatsRules<World>,
): Promise<SeatsPlayed<World>[]> {
  const voiceOf = await openVoices(context, beginnings, rules.sampling);
  const all = beginnings.map(
    (beginning): Running<World> => ({
      beginning,
      world: beginning.world,
      turns: [],
      histories: new Map(),
      firsts: new Map(),
    }),
  );
  for (;;) {
    const asked = all.map((running) => (running.ended ? [] : nextTurns(voiceOf, running, rules)));
    if (asked.every((turns) => turns.length === 0)) break;
    const samples = await sampled(asked.flat(), rules.sampling);
    for (const [e, turns] of asked.entries()) if (turns.length) take(all[e]!, turns, samples, rules);
  }
  return all.map(({ world, turns, ended }) => ({ world, turns, ended: ended! }));
}

/** The voices of all that play. */
async function openVoices(
  own: RoundContext,
  beginnings: readonly Pick<SeatsBeginning<unknown>, 'seats'>[],
  sampling: Partial<SamplingSettings> = {},
): Promise<VoiceOf> {
  const voices = new Map<RoundContext, Map<string, Voice>>();
  for (const { role, by: context = own } of beginnings.flatMap(({ seats }) => Object.values(seats))) {
    const known = voices.get(context) ?? new Map<string, Voice>();
    voices.set(context, known);
    if (known.has(role)) continue;
    const { maxNew } = { ...samplingOf(context, role), ...sampling };
    known.set(role, { context, role, speaker: await context.textOf(role), longest: maxNew });
  }
  return ({ role, by = own }) => voices.get(by)!.get(role)!;
}

/** The turns that an episode goes on with; none where it has ended, which is written down. */
function nextTurns<World>(
  voiceOf: VoiceOf,
  running: Running<World>,
  { next, maxTurns, maxTokens = Number.POSITIVE_INFINITY, tools }: SeatsRules<World>,
): Asked[] {
  const readings = next(running.world);
  const asked = readings.map(({ seat, reads, anew }, i): Asked => {
    const seated = heldSeat(running.beginning.seats, seat);
    if (readings.findIndex((one) => one.seat === seat) !== i)
      throw new RollmeshError(
        'give-up',
        'episode.seat',
        `The seat ${JSON.stringify(seat)} is to write twice at once.`,
        {
          expected: 'each seat at most once among those that write now',
        },
      );
    const history = anew ? undefined : running.histories.get(seat);
    const voice = voiceOf(seated);
    const prompt = grown(voice.speaker, history, reads, tools);
    return { seat, id: seated.id, voice, turn: running.turns.length + i, prompt };
  });
  const written = running.turns.reduce((sum, { ids }) => sum + ids.length, 0);
  if (asked.length === 0) running.ended = 'over';
  else if (running.turns.length + asked.length > maxTurns) running.ended = 'turns';
  else if (asked.reduce((sum, { voice }) => sum + voice.longest, written) > maxTokens)
    running.ended = 'tokens';
  else if (asked.some(({ prompt, voice }) => prompt.ids.length + voice.longest > voice.speaker.contextLength))
    running.ended = 'no-room';
  return running.ended ? [] : asked;
}

/** Throws `episode.seat` where nobody holds the seat. */
function heldSeat(seats: Readonly<Record<string, Seated>>, seat: string): Seated {
  if (Object.hasOwn(seats, seat)) return seats[seat]!;
  throw new RollmeshError('give-up', 'episode.seat', `Nobody holds the seat ${JSON.stringify(seat)}.`, {
    expected: `one of ${Object.keys(seats).join(', ')}`,
  });
}

/** A history with what its seat reads next. */
function grown(
  { tokenizer, renderer }: PolicyText,
  history: History | undefined,
  reads: Reading['reads'],
  tools: readonly Tool[] | undefined,
): History {
  if (typeof reads === 'string') return { ids: [...(history?.ids ?? []), ...tokenizer.encode(reads)] };
  const dialogue = history?.dialogue
    ? goneOn(renderer(), history.dialogue, reads)
    : renderer().begin(reads, tools);
  return { ids: dialogue.ids, dialogue };
}

/** The dialogue after further messages. A template that rewrites what was said before is asked the whole of it again. */
function goneOn(renderer: ReturnType<PolicyText['renderer']>, dialogue: Dialogue, reads: readonly Message[]) {
  try {
    return renderer.ask(dialogue, reads);
  } catch (error) {
    if (!(error instanceof RollmeshError && error.code === 'renderer.history')) throw error;
    return renderer.begin([...dialogue.messages, ...reads], dialogue.tools);
  }
}

/** Samples turns by their ids, voice by voice. Equal prompts of a voice share the computation of them. */
async function sampled(
  asked: readonly Asked[],
  sampling: Partial<SamplingSettings> = {},
): Promise<ReadonlyMap<Asked, Sample>> {
  const samples = new Map<Asked, Sample>();
  for (const voice of new Set(asked.map((one) => one.voice))) {
    const alike = new Map<string, Asked[]>();
    for (const one of asked) {
      if (one.voice !== voice) continue;
      const key = one.prompt.ids.join();
      alike.set(key, [...(alike.get(key) ?? []), one]);
    }
    const groups = [...alike.values()];
    const prompts = groups.map(
      (group): GeneratePrompt => ({
        ids: group[0]!.prompt.ids,
        sampleIds: group.map(({ id, turn }) => turnId(id, turn)),
      }),
    );
    const { context, role } = voice;
    const completions = await context.generate(role, prompts, sampling);
    for (const [p, { ids, sampleIds }] of prompts.entries())
      for (const [i, id] of sampleIds.entries())
        samples.set(groups[p]![i]!, sampleOf(context, role, id, ids, completions[p]![i]!, 'ok'));
  }
  return samples;
}

/** Writes the turns down and tells the world of them. */
function take<World>(
  running: Running<World>,
  asked: readonly Asked[],
  samples: ReadonlyMap<Asked, Sample>,
  { answer }: SeatsRules<World>,
): void {
  const { seats, episode } = running.beginning;
  const own = asked.map((one) => samples.get(one)!);
  const texts = asked.map(
    ({ seat, voice: { speaker } }, i): Written => ({
      seat,
      text: speaker.tokenizer.decode(own[i]!.ids),
      speaker,
    }),
  );
  const { world, outcomes } = answer(running.world, texts);
  running.world = world;
  for (const [i, { seat, voice, turn, prompt }] of asked.entries()) {
    const sample = own[i]!;
    const { dialogue } = prompt;
    running.histories.set(seat, {
      ids: [...prompt.ids, ...sample.ids],
      dialogue: dialogue && voice.speaker.renderer().answer(dialogue, sample.ids),
    });
    const first = running.firsts.get(seat);
    running.turns.push({
      ...sample,
      outcome: sample.stopped ? outcomes[i]! : 'cut-off',
      turn,
      ...(first === undefined ? {} : { of: first }),
      // An episode of one seat is known by its first sample.
      ...(episode !== undefined && Object.keys(seats).length > 1 ? { episode } : {}),
    });
    running.firsts.set(seat, first ?? sample.id);
  }
}
