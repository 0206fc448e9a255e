/** What both sides of the fault layer know: the one that orders faults and the Worker that suffers them. */
export interface FaultSettings {
  /** Names the draws of this process; another start of the mesh has another seed. */
  readonly seed: string;
  /** Share of the calls that are hit. */
  readonly rate: number;
}
