import type { IncomingMessage } from 'node:http';
import { isIPv4, isIPv6 } from 'node:net';
import proxyAddr from '@fastify/proxy-addr';
import type { TrustProxy } from '../gateway.config.js';

/** Decides whether the gateway trusts the forwarded headers of a peer at this address. `hop` is 0 for the direct peer. */
export type IsTrusted = (address: string, hop: number) => boolean;

/** Compiles TRUST_PROXY into the rule that Fastify also uses to find `request.ip`. */
export function trustRule(trustProxy: TrustProxy): IsTrusted {
  return typeof trustProxy === 'boolean' ? () => trustProxy : proxyAddr.compile(trustProxy);
}

/** Finds the client address of a request that bypasses Fastify. The result equals Fastify's `request.ip`. */
export function clientAddressOf(request: IncomingMessage, isTrusted: IsTrusted): string {
  return proxyAddr(request, isTrusted);
}

/**
 * The key under which limits count a client: its IPv4 address or its IPv6 /64 network. One client can use all addresses of a /64 network.
 * Text that is not an address comes from a faulty proxy. All clients with such text share the key `unknown`.
 */
export function addressKey(address: string): string {
  if (isIPv4(address)) return address;
  const [plain = ''] = address.split('%');
  if (!isIPv6(plain)) return 'unknown';
  const groups = groupsOf(plain);
  if (isMapped(groups))
    return [groups[6], groups[7]].flatMap((group = 0) => [group >> 8, group & 255]).join('.');
  return printGroups(groups.slice(0, 4));
}

/**
 * The keys of the networks that contain a client, smallest first: its `addressKey`, and for IPv6 also its /56 and /48 networks. Providers
 * give their customers one of these sizes, so one client can use all addresses of any of them.
 */
export function networkKeys(address: string): [addressKey: string, ...wider: string[]] {
  const key = addressKey(address);
  if (!key.includes(':')) return [key];
  const [a = 0, b = 0, c = 0, d = 0] = readGroups(key);
  return [key, `${printGroups([a, b, c, d & 0xff00])}/56`, `${printGroups([a, b, c])}/48`];
}

function printGroups(groups: readonly number[]): string {
  return groups.map((group) => group.toString(16)).join(':');
}

/** Expands an IPv6 address into its eight groups. */
function groupsOf(address: string): number[] {
  const [head = [], tail = []] = address.split('::').map(readGroups);
  return [...head, ...new Array<number>(8 - head.length - tail.length).fill(0), ...tail];
}

function readGroups(text: string): number[] {
  return text
    .split(':')
    .filter((part) => part !== '')
    .flatMap((part) => (isIPv4(part) ? readIPv4(part) : [Number.parseInt(part, 16)]));
}

function readIPv4(text: string): number[] {
  const [a = 0, b = 0, c = 0, d = 0] = text.split('.').map(Number);
  return [a * 256 + b, c * 256 + d];
}

/** Whether the groups encode an IPv4 address (`::ffff:0:0/96`). Dual-stack sockets report IPv4 peers in this form. */
function isMapped(groups: readonly number[]): boolean {
  return groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff;
}
