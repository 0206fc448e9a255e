/** A version as the command line names it: NAME@N, and one of its parameter sets: NAME@N/SET. */
import { InvalidArgumentError } from 'commander';
import { MAIN_SET } from '../../core/schema/policy.ts';

export interface VersionName {
  readonly name: string;
  readonly version: number;
}

export function versionName(text: string): VersionName {
  const [, name, version] = /^([a-z0-9][a-z0-9._-]*)@(\d{1,9})$/.exec(text) ?? [];
  if (name && version) return { name, version: Number(version) };
  throw new InvalidArgumentError('Expected NAME@N, such as trio-0@3.');
}

export interface SetName extends VersionName {
  /** Absent = the main set. */
  readonly set?: string;
}

export function setOfVersion(text: string): SetName {
  const [, version, set] = /^([^/]*)(?:\/([a-z][a-z0-9-]{0,31}))?$/.exec(text) ?? [];
  if (version === undefined)
    throw new InvalidArgumentError('Expected NAME@N or NAME@N/SET, such as rest-mcts-0@3/value.');
  return { ...versionName(version), ...(set === undefined || set === MAIN_SET ? {} : { set }) };
}

export const nameOfSet = ({ name, version, set }: SetName): string =>
  `${name}@${version}${set === undefined ? '' : `/${set}`}`;
