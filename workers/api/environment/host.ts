/** A server of environments as whoever plays it uses it, whatever its protocol is. */
import type { EnvironmentTool } from '../../../core/schema/environment.ts';

/** What a call of a tool gave. */
export interface Called {
  /** For the policy. */
  readonly text: string;
  /** What this call is paid; null where it is paid nothing. */
  readonly reward: number | null;
  readonly finished: boolean;
}

/** The environment of one episode. Everything that goes wrong with it is an error that `missingBy` knows. */
export interface World {
  /** What the policy reads first. */
  readonly prompt: string;
  readonly tools: readonly EnvironmentTool[];
  /** Calls a tool, once. */
  readonly call: (name: string, input: Readonly<Record<string, unknown>>) => Promise<Called>;
  /** Makes sure that the environment has said all it had to say of the calls. */
  readonly settled: () => Promise<void>;
  /** Gives the environment up. What goes wrong with that changes no reward. */
  readonly end: () => Promise<void>;
}

/** What is wanted of the tasks of a server. */
export interface WantedTasks {
  /** The environment and the split, where the server has several. */
  readonly name?: string;
  readonly split?: string;
  /** At most so many. */
  readonly first: number;
  /** What a reset is given beside its seed. */
  readonly reset?: Readonly<Record<string, unknown>>;
  /** Said to the policy before the first observation. */
  readonly instructions?: string;
  /** The fields of an observation that the policy reads. */
  readonly show?: readonly string[];
}

export interface Host {
  /** Fails where the server is not up. */
  readonly check: () => Promise<void>;
  /** The tasks as rows of a file of tasks, and where they are from. */
  readonly rows: (
    wanted: WantedTasks,
  ) => Promise<{ readonly place: string; readonly rows: readonly object[] }>;
  /** Begins the environment of a task of such a file. `session`: a name that no other episode has. */
  readonly open: (task: unknown, session: string) => Promise<World>;
}

/** What stands for a reference answer where an environment tells none. */
export const UNKNOWN_ANSWER = '(the environment alone knows)';
