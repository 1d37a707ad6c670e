import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export interface ReceivedSpan {
  /** The `service.name` of the process that created the span. */
  service: string;
  name: string;
  traceId: string;
  spanId: string;
  parentSpanId: string | undefined;
  attributes: Record<string, string>;
}

interface OtlpAttribute {
  key: string;
  value: Record<string, unknown>;
}

/** The parts of an ExportTraceServiceRequest (JSON) that the tests read. */
interface OtlpRequest {
  resourceSpans: {
    resource: { attributes: OtlpAttribute[] };
    scopeSpans: {
      spans: (Pick<ReceivedSpan, 'name' | 'traceId' | 'spanId'> & {
        parentSpanId?: string;
        attributes: OtlpAttribute[];
      })[];
    }[];
  }[];
}

/** Receives traces over OTLP/HTTP, like a collector. */
export class TraceReceiver {
  readonly spans: ReceivedSpan[] = [];
  readonly paths = new Set<string>();
  /** Values of the header `x-test`. */
  readonly credentials = new Set<unknown>();

  private constructor(private readonly server: Server) {}

  static async start(): Promise<TraceReceiver> {
    const server = createServer();
    const receiver = new TraceReceiver(server);
    server.on('request', (request, response) => {
      void receiver
        .receive(request)
        .finally(() => response.setHeader('content-type', 'application/json').end('{}'));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return receiver;
  }

  get url(): string {
    const { port } = this.server.address() as AddressInfo; // Safe cast: the server listens on TCP.
    return `http://127.0.0.1:${port}`;
  }

  /** Finds the span with this attribute value and returns all spans of its trace. */
  traceOf(attribute: string, value: string): ReceivedSpan[] {
    const { traceId } = this.spans.find(({ attributes }) => attributes[attribute] === value) ?? {};
    return this.spans.filter((span) => span.traceId === traceId);
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private async receive(request: IncomingMessage): Promise<void> {
    this.paths.add(`${request.method} ${request.url} ${request.headers['content-type']}`);
    this.credentials.add(request.headers['x-test']);
    const { resourceSpans } = JSON.parse(await text(request)) as OtlpRequest; // Safe cast: any other shape fails the test.
    for (const { resource, scopeSpans } of resourceSpans) {
      const service = toAttributes(resource.attributes)['service.name'] ?? '';
      for (const { spans } of scopeSpans)
        for (const { name, traceId, spanId, parentSpanId, attributes } of spans)
          this.spans.push({
            service,
            name,
            traceId,
            spanId,
            parentSpanId,
            attributes: toAttributes(attributes),
          });
    }
  }
}

function toAttributes(attributes: readonly OtlpAttribute[]): Record<string, string> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, String(Object.values(value)[0])]));
}
