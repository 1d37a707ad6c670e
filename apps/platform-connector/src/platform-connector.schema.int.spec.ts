import { describeSchema } from '@stream-events/testing';
import { connectConnector } from '../test/connect-connector.js';
import { schema } from './platform-connector.app.js';

describeSchema(schema.name, (database) => connectConnector(database, 1));
