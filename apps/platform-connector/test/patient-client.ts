import type { Contract } from '@stream-events/contracts';
import { RequestClient, type RequestOptions } from '@stream-events/messaging';

// On a busy machine, a reply takes seconds. The contracts' own timeouts are for waiting users.
const timeoutMs = 30_000;

/** Sends requests as a service does, but waits longer for replies. */
export class PatientClient extends RequestClient {
  override request<Request extends object, Reply extends object>(
    contract: Contract<Request, Reply>,
    request: Request,
    options?: RequestOptions,
  ): Promise<Reply> {
    return super.request({ ...contract, timeoutMs }, request, options);
  }
}
