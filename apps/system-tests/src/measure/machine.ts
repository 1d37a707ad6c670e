import { execFileSync } from 'node:child_process';
import { arch, cpus, totalmem, release, type } from 'node:os';
import { runSql, type ServerAddresses } from '../system/servers.js';

export function describeMachine(): Record<string, string> {
  return {
    Processor: `${cpus()[0]?.model.trim() ?? 'unknown'}, ${cpus().length} cores (${arch()})`,
    Memory: `${Math.round(totalmem() / 1024 ** 3)} GiB`,
    System: `${type()} ${release()}`,
  };
}

export async function describeServers(servers: ServerAddresses): Promise<Record<string, string>> {
  const [postgres] = await runSql<{ server_version: string }>(servers.postgres.url, 'SHOW server_version');
  const [fsync] = await runSql<{ fsync: string }>(servers.postgres.url, 'SHOW fsync');
  const nats = execFileSync(servers.natsBinary, ['--version'], { encoding: 'utf8' });
  return {
    'Node.js': process.versions.node,
    PostgreSQL: `${postgres?.server_version ?? 'unknown'} (embedded), fsync ${fsync?.fsync ?? 'unknown'}`,
    'nats-server': nats.trim().replace(/^nats-server: v?/, ''),
  };
}
