import {
  defineContract,
  getEvent,
  type GetEventRequest,
  type StoredEventMessage,
} from '@stream-events/contracts';
import { PATTERN_METADATA } from '@nestjs/microservices/constants.js';
import { Handles } from './handles.js';

class Question {
  text!: string;
}
class Answer {
  number!: number;
}
const ask = defineContract({
  subject: 'request.oracle.ask',
  request: Question,
  reply: Answer,
  errors: [],
  timeoutMs: 1,
});

class Oracle {
  @Handles(ask)
  async right(question: Question): Promise<Answer> {
    return Promise.resolve({ number: question.text.length });
  }

  // These lines are the test: if one of them compiles, the repository's type check fails.

  // @ts-expect-error the reply has another type
  @Handles(ask)
  async wrongReply(_question: Question): Promise<{ number: string }> {
    return Promise.resolve({ number: '42' });
  }

  // @ts-expect-error the reply is not promised
  @Handles(ask)
  notPromised(_question: Question): Answer {
    return { number: 42 };
  }

  // @ts-expect-error there is no reply
  @Handles(ask)
  async noReply(_question: Question): Promise<void> {
    await Promise.resolve();
  }

  // @ts-expect-error the request has another type
  @Handles(ask)
  async wrongRequest(question: { text: number }): Promise<Answer> {
    return Promise.resolve({ number: question.text });
  }

  // @ts-expect-error the handler expects fields that the request does not have
  @Handles(ask)
  async greedy(question: Question & { tone: string }): Promise<Answer> {
    return Promise.resolve({ number: question.tone.length });
  }

  // @ts-expect-error the handler belongs to another contract
  @Handles(ask)
  async otherContract(request: GetEventRequest): Promise<StoredEventMessage> {
    return Promise.reject(new Error(`${request.id} of ${getEvent.subject}`));
  }
}

describe(Handles.name, () => {
  it('subscribes the method to the subject of the contract', () => {
    const handler = Object.getOwnPropertyDescriptor(Oracle.prototype, 'right')?.value as object;

    expect(Reflect.getMetadata(PATTERN_METADATA, handler)).toEqual([ask.subject]);
  });
});
