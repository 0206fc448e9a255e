/** The fault settings, shared by the process that orders faults and the Worker in which they occur. */
export interface FaultSettings {
  /** The seed of this process's random draws; each start of the mesh has another one. */
  readonly seed: string;
  /** The share of the calls that get a fault. */
  readonly rate: number;
  /** How often each message is delivered that is sent to a queue; default 1. */
  readonly copies?: number;
}
