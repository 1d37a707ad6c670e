import type { Contract } from '@stream-events/contracts';
import { RequestClient, type RequestOptions } from '@stream-events/messaging';

// A reply takes seconds on a busy machine. The timeouts of the contracts are about users who wait.
const timeoutMs = 30_000;

/** Sends requests like a service, and waits longer for the replies. */
export class PatientClient extends RequestClient {
  override request<Request extends object, Reply extends object>(
    contract: Contract<Request, Reply>,
    request: Request,
    options?: RequestOptions,
  ): Promise<Reply> {
    return super.request({ ...contract, timeoutMs }, request, options);
  }
}
