import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** V8's format: https://chromedevtools.github.io/devtools-protocol/tot/Profiler/#type-Profile */
interface CpuProfile {
  nodes: { id: number; callFrame: { functionName: string; url: string } }[];
  samples: number[];
  timeDeltas: number[];
}

/** Shares of a process's non-idle time, largest first. */
export type ProfileShares = [part: string, share: number][];

// Skip the first 40 % of a profile: startup and warm-up.
const skippedShare = 0.4;

/** Reads the profiles in a folder. The file paths in a profile show which app it belongs to. */
export async function readProfiles(directory: string): Promise<Record<string, ProfileShares>> {
  const profiles: Record<string, ProfileShares> = {};
  for (const file of await readdir(directory)) {
    const profile = JSON.parse(await readFile(join(directory, file), 'utf8')) as CpuProfile; // Safe cast: V8 wrote it
    const app = ['gateway', 'events'].find((name) =>
      profile.nodes.some(({ callFrame }) => callFrame.url.includes(`/apps/${name}/dist/`)),
    );
    if (app) profiles[app] = toShares(profile);
  }
  return profiles;
}

function toShares({ nodes, samples, timeDeltas }: CpuProfile): ProfileShares {
  const partById = new Map(nodes.map(({ id, callFrame }) => [id, partOf(callFrame)]));
  const times = new Map<string, number>();
  for (let index = Math.floor(samples.length * skippedShare); index < samples.length; index += 1) {
    const part = partById.get(samples[index] ?? 0) ?? 'other';
    if (part !== '(idle)') times.set(part, (times.get(part) ?? 0) + (timeDeltas[index] ?? 0));
  }
  const total = [...times.values()].reduce((sum, time) => sum + time, 0);
  return [...times].map(([part, time]): [string, number] => [part, time / total]).sort((a, b) => b[1] - a[1]);
}

function partOf({ functionName, url }: { functionName: string; url: string }): string {
  const packageName = /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(url)?.[1];
  if (packageName) return packageName;
  if (/\/(apps|libs)\//.test(url)) return 'our code';
  if (/^node:(_http|internal\/http)/.test(url)) return 'Node: HTTP';
  if (url.includes('crypto')) return 'Node: hashes and signatures';
  if (url.startsWith('node:')) return 'Node: streams, timers, buffers';
  if (/^(writev|write\w+String|writeBuffer)$/.test(functionName)) return 'system: writing to sockets';
  if (functionName === '(garbage collector)') return 'V8: garbage collection';
  return functionName === '(idle)' ? '(idle)' : 'V8 and system, otherwise';
}
