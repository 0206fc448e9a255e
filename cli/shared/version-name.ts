/** A version as the command line names it: NAME@N. */
import { InvalidArgumentError } from 'commander';

export interface VersionName {
  readonly name: string;
  readonly version: number;
}

export function versionName(text: string): VersionName {
  const [, name, version] = /^([a-z0-9][a-z0-9._-]*)@(\d{1,9})$/.exec(text) ?? [];
  if (name && version) return { name, version: Number(version) };
  throw new InvalidArgumentError('Expected NAME@N, such as trio-0@3.');
}
