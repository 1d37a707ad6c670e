import { Global, Module, type DynamicModule } from '@nestjs/common';
import { Alarms, CONFIG, LOGGER, type Logger } from '@stream-events/service';
import { AlarmPoster } from './alarm-poster.service.js';
import { AlarmPosts } from './alarm-posts.repository.js';
import { ALARM_TIMES, type AlarmTimes } from './alarm-times.js';
import { AlarmsController } from './alarms.controller.js';
import { AlarmsRepository } from './alarms.repository.js';
import { ALERT_WEBHOOK, toAlertWebhook } from './alert-webhook.js';

/** Stores the alarms of all services, and posts them to the alert webhook. Every feature can inject `Alarms` to raise and clear alarms. */
@Global()
@Module({})
export class AlarmsModule {
  static register(times: AlarmTimes): DynamicModule {
    return {
      module: AlarmsModule,
      controllers: [AlarmsController],
      providers: [
        { provide: ALARM_TIMES, useValue: times },
        { provide: ALERT_WEBHOOK, inject: [CONFIG], useFactory: toAlertWebhook },
        {
          provide: Alarms,
          inject: [AlarmsRepository, LOGGER],
          useFactory: (repository: AlarmsRepository, logger: Logger) =>
            new Alarms((report) => repository.save(report), logger),
        },
        AlarmPoster,
        AlarmPosts,
        AlarmsRepository,
      ],
      exports: [ALARM_TIMES, Alarms, AlarmPoster, AlarmsRepository],
    };
  }
}
