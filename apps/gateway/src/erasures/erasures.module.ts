import { Module } from '@nestjs/common';
import { AuditLogModule } from '../audit-log/audit-log.module.js';
import { ErasuresController } from './erasures.controller.js';
import { StoredUsersController } from './stored-users.controller.js';

@Module({ imports: [AuditLogModule], controllers: [ErasuresController, StoredUsersController] })
export class ErasuresModule {}
