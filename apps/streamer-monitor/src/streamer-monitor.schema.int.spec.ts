import { describeSchema } from '@stream-events/testing';
import { connectMonitor } from '../test/monitor-store.js';
import { schema } from './streamer-monitor.app.js';

describeSchema(schema.name, (database) => connectMonitor(database, 1));
