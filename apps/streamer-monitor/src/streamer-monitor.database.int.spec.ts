import { describeSchema, describeUpgrade } from '@stream-events/testing';
import { connectMonitor } from '../test/monitor-store.js';
import { schema } from './streamer-monitor.database.js';

describeSchema(schema.name, (database) => connectMonitor(database, 1));

describeUpgrade(schema);
