import { describeSchema } from '@stream-events/testing';
import { connectGateway } from '../test/connect-gateway.js';
import { schema } from './gateway.app.js';

describeSchema(schema.name, (database) => connectGateway(database, 1));
