/** The policy for tests that a guest's tests have as well. */
export { scriptedPolicy, textTokenizer } from '../../testing/scripted-policy.ts';
