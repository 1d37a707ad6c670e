import { applyDecorators, UsePipes, type PipeTransform } from '@nestjs/common';
import { MessagePattern, Transport } from '@nestjs/microservices';
import type { Contract } from '@stream-events/contracts';
import { parseRequest } from './parse-message.js';

class ContractPipe implements PipeTransform {
  constructor(private readonly contract: Contract<object, object>) {}

  transform(message: unknown): object {
    return parseRequest(this.contract, message);
  }
}

/** Handles the requests of a contract. */
type Handler<Request extends object, Reply extends object> = (request: Request) => Promise<Reply>;

/**
 * Makes a controller method the handler of a contract. The method receives validated requests. A method whose request or reply type differs
 * from the contract does not compile.
 */
export function Handles<Request extends object, Reply extends object>(contract: Contract<Request, Reply>) {
  return (
    target: object,
    key: string,
    descriptor: TypedPropertyDescriptor<Handler<Request, Reply>>,
  ): void => {
    const decorate = applyDecorators(
      MessagePattern(contract.subject, Transport.NATS),
      UsePipes(new ContractPipe(contract)),
    );
    decorate(target, key, descriptor);
  };
}
