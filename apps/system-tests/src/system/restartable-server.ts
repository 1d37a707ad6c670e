/** The operations of an embedded server that a supervisor needs. */
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

  /** Starts the server for the first time. The server chooses its port. */
  static async start<Server extends EmbeddedServer>(
    startOn: (port?: number) => Promise<Server>,
  ): Promise<RestartableServer<Server>> {
    return new RestartableServer(startOn, await startOn());
  }

  /** The most recently started server. */
  get current(): Server {
    return this.server;
  }

  /** Shuts down the server and keeps its data. */
  stop(): Promise<void> {
    return this.server.stop();
  }

  /** Kills the server with SIGKILL and keeps its data. */
  kill(): Promise<void> {
    return this.server.kill();
  }

  /** Starts the server again. Resolves when the server responds. */
  async restart(): Promise<void> {
    this.server = await this.startOn(this.server.port);
  }
}
