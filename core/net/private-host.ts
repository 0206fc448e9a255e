/** Whether a host is one of a machine itself or of its private network, which nothing outside reaches. */

/** IPv4 as `URL` writes it. */
const PRIVATE_V4 =
  /^(?:0|10|127)\.|^169\.254\.|^192\.168\.|^172\.(?:1[6-9]|2\d|3[01])\.|^100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7])\../;
/** Itself, unique local and link-local addresses, and IPv4 addresses as IPv6 ones. */
const PRIVATE_V6 = /^\[(?:::1?\]|::ffff:|f[cd]|fe[89ab])/;
const PRIVATE_NAME = /^localhost$|\.(?:localhost|local|internal|lan|home\.arpa)$/;

/** `host`: as the `hostname` of a `URL`. A name without a dot is one of a private network, too. */
export function isPrivateHost(host: string): boolean {
  const name = host.replace(/\.$/, '');
  const isName = !name.startsWith('[');
  return (
    [PRIVATE_V4, PRIVATE_V6, PRIVATE_NAME].some((one) => one.test(name)) || (isName && !name.includes('.'))
  );
}
