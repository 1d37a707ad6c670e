import { IsIn, IsNotEmpty, IsString, IsUrl, Matches, ValidateIf } from 'class-validator';
import { callbackRules, secretPattern, secretRule } from '../messages/webhook-rules.js';

const isWebhook = ({ method }: TransportDto): boolean => method === 'webhook';
const isSocket = ({ method }: TransportDto): boolean => method === 'websocket';
const isConduit = ({ method }: TransportDto): boolean => method === 'conduit';

/** The `transport` field of a request. The method decides which other fields are required. */
export class TransportDto {
  @IsIn(['webhook', 'websocket', 'conduit'])
  method!: 'webhook' | 'websocket' | 'conduit';

  @ValidateIf(isWebhook)
  @IsUrl(callbackRules)
  callback!: string;

  @ValidateIf(isWebhook)
  @Matches(secretPattern, secretRule)
  secret!: string;

  @ValidateIf(isSocket)
  @IsString()
  @IsNotEmpty()
  session_id!: string;

  @ValidateIf(isConduit)
  @IsString()
  @IsNotEmpty()
  conduit_id!: string;
}
