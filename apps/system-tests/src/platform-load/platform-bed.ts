import { startPlatformSide, type PlatformSide } from '../system/platform-side.js';
import { startServers, type Servers } from '../system/servers.js';
import { startSystem, type System } from '../system/system.js';
import { GatewayClient } from './gateway-client.js';
import { SimulatedPlatform } from './simulated-platform.js';

export interface Size {
  streamers: number;
  /** Streamers that go live and offline during the test. */
  changingStreamers: number;
  changingSeconds: number;
  /** Complete polling passes to observe. */
  pollingPasses: number;
  outageSeconds: number;
  baselineSeconds: number;
}

/** One gateway, one events service, two connectors, two streamer monitors, and the simulated platform. */
export class PlatformBed {
  readonly client: GatewayClient;
  readonly platform: SimulatedPlatform;

  private constructor(
    readonly size: Size,
    readonly servers: Servers,
    readonly databaseUrl: string,
    readonly system: System,
    readonly side: PlatformSide,
  ) {
    this.client = new GatewayClient(system.gateways[0]?.url ?? '', system.token);
    this.platform = new SimulatedPlatform(side);
  }

  static async start(size: Size): Promise<PlatformBed> {
    const servers = await startServers();
    const stops = [() => servers.stop()];
    try {
      const databaseUrl = await servers.createDatabase('platform_load');
      const system = await startSystem(servers, databaseUrl, { gateways: 1, events: 1 });
      stops.push(() => system.stop());
      const side = await startPlatformSide(servers, databaseUrl, system);
      return new PlatformBed(size, servers, databaseUrl, system, side);
    } catch (error) {
      for (const stop of stops.reverse()) await stop();
      throw error;
    }
  }

  async stop(): Promise<void> {
    await this.side.stop();
    await this.system.stop();
    await this.servers.stop();
  }

  /** Pids by name. */
  get processes(): Record<string, number> {
    const { connectors, monitors, simulator } = this.side;
    const numbered = (name: string, pids: readonly number[]): [string, number][] =>
      pids.map((pid, index) => [pids.length === 1 ? name : `${name} ${index + 1}`, pid]);
    return Object.fromEntries([
      ...[connectors, monitors].flatMap((services) =>
        numbered(
          services[0]?.app ?? '',
          services.map(({ pid }) => pid),
        ),
      ),
      ...numbered(
        'gateway',
        this.system.gateways.map(({ pid }) => pid),
      ),
      ...numbered(
        'events',
        this.system.events.map(({ pid }) => pid),
      ),
      ...numbered('platform-simulator', [simulator.pid]),
    ]);
  }
}
