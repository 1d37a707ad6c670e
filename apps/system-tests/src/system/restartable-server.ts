/** The parts of an embedded server that its supervisor needs. */
interface EmbeddedServer {
  port: number;
  stop(): Promise<void>;
  kill(): Promise<void>;
}

/** A server that can be stopped or killed and started again on the same port and data. */
export class RestartableServer<Server extends EmbeddedServer> {
  private constructor(
    private readonly startOn: (port?: number) => Promise<Server>,
    private server: Server,
  ) {}

  /** Starts it for the first time, on a port of its choice. */
  static async start<Server extends EmbeddedServer>(
    startOn: (port?: number) => Promise<Server>,
  ): Promise<RestartableServer<Server>> {
    return new RestartableServer(startOn, await startOn());
  }

  /** What was started last. */
  get current(): Server {
    return this.server;
  }

  /** Ends it in order; the data stays. */
  stop(): Promise<void> {
    return this.server.stop();
  }

  /** Ends it by SIGKILL; the data stays. */
  kill(): Promise<void> {
    return this.server.kill();
  }

  /** Starts it again; done when it answers. */
  async restart(): Promise<void> {
    this.server = await this.startOn(this.server.port);
  }
}
