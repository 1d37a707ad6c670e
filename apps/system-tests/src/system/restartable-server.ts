/** The part of an embedded server that `RestartableServer` needs. */
interface EmbeddedServer {
  port: number;
  stop(): Promise<void>;
  kill(): Promise<void>;
}

/** A server that can be stopped or killed, and started again with the same port and data. */
export class RestartableServer<Server extends EmbeddedServer> {
  private constructor(
    private readonly startOn: (port?: number) => Promise<Server>,
    private server: Server,
  ) {}

  /** The first start lets the server choose its port. */
  static async start<Server extends EmbeddedServer>(
    startOn: (port?: number) => Promise<Server>,
  ): Promise<RestartableServer<Server>> {
    return new RestartableServer(startOn, await startOn());
  }

  /** The server of the last start. */
  get current(): Server {
    return this.server;
  }

  /** Shuts down gracefully and keeps the data. */
  stop(): Promise<void> {
    return this.server.stop();
  }

  /** Kills the server with SIGKILL and keeps the data. */
  kill(): Promise<void> {
    return this.server.kill();
  }

  /** Resolves when the server responds. */
  async restart(): Promise<void> {
    this.server = await this.startOn(this.server.port);
  }
}
