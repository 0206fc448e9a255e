/** The policy for tests that a guest's tests have as well. */
export { scriptedPolicy, textTokenizer } from '../../local/testing/scripted-policy.ts';
