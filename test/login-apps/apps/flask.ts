import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PASSWORD } from '../app.ts';
import type { App } from '../app.ts';

/** One person per sign-in method. */
export const PEOPLE = {
  password: 'ada@example.com',
  authenticator: 'grace@example.com',
  mail: 'mary@example.com',
};

/** Base-32, of the authenticator. */
export const SECRET = 'KRUGKIDROVUWG2ZAMJZG653OEBTG66BA';

const PROGRAM = `
import os
from flask import Flask, render_template_string
from flask_mail import Mail
from flask_security import Security, SQLAlchemyUserDatastore, auth_required, hash_password, current_user
from flask_security.models import fsqla_v3 as fsqla
from flask_sqlalchemy import SQLAlchemy

passwordless = os.environ['PASSWORDLESS'] == 'yes'
app = Flask(__name__)
app.config.update(
    SECRET_KEY='of one test', SECURITY_PASSWORD_SALT='146585145368132386173505678016728509634',
    SQLALCHEMY_DATABASE_URI='sqlite:///' + os.environ['DATABASE'], MAIL_SERVER='127.0.0.1', MAIL_PORT=int(os.environ['SMTP_PORT']),
    SECURITY_EMAIL_SENDER='site@example.com', SECURITY_PASSWORD_COMPLEXITY_CHECKER=None, SECURITY_POST_LOGIN_VIEW='/account',
    SECURITY_EMAIL_VALIDATOR_ARGS={'check_deliverability': False}, SECURITY_PASSWORDLESS=passwordless,
    SECURITY_REGISTERABLE=not passwordless, SECURITY_CONFIRMABLE=not passwordless, SECURITY_POST_CONFIRM_VIEW='/login',
    SECURITY_AUTO_LOGIN_AFTER_CONFIRM=False, SECURITY_TWO_FACTOR=not passwordless, SECURITY_TWO_FACTOR_ENABLED_METHODS=['email', 'authenticator'],
    SECURITY_TWO_FACTOR_ALWAYS_VALIDATE=True, SECURITY_TOTP_SECRETS={'1': 'TjQ9Qa31VOrfEzuPy4VHQWPCTmRzCnFzMKLxXYiZu9B'},
    SECURITY_TOTP_ISSUER='site', SECURITY_RECOVERABLE=not passwordless)
Mail(app)
db = SQLAlchemy(app)
fsqla.FsModels.set_db_info(db)

class Role(db.Model, fsqla.FsRoleMixin):
    pass

class User(db.Model, fsqla.FsUserMixin):
    pass

store = SQLAlchemyUserDatastore(db, User, Role)
app.security = Security(app, store)

@app.route('/account')
@auth_required('session')
def account():
    return render_template_string('<h1>Minutes of the board</h1><p>For {{ user.email }}</p><a href="/logout">Logout</a>', user=current_user)

@app.route('/')
def home():
    return render_template_string('<h1>Welcome</h1>{% for text in get_flashed_messages() %}<p>{{ text }}</p>{% endfor %}<a href="/login">Login</a>')

@app.route('/ready')
def ready():
    return 'ready'

with app.app_context():
    db.create_all()
    import datetime
    now = datetime.datetime.utcnow()
    for name in ('ada', 'grace', 'mary'):
        user = store.create_user(email=name + '@example.com', password=hash_password(os.environ['PASSWORD']), confirmed_at=now)
        if not passwordless and name != 'ada':
            user.tf_primary_method = 'authenticator' if name == 'grace' else 'email'
            totp = app.security._totp_factory._totp
            given = totp(key=os.environ['SECRET'], format='base32') if name == 'grace' else totp.new()
            user.tf_totp_secret = given.to_json(encrypt=True)
    db.session.commit()
app.run('127.0.0.1', int(os.environ['PORT']))
`;

function build(name: string, passwordless: boolean): App {
  return {
    name,
    file: '/usr/lib/python3/dist-packages/flask_security/__init__.py',
    package: 'python3-flask-security',
    prepare({ port, scratch, smtpPort }) {
      const program = join(scratch, 'website.py');
      writeFileSync(program, PROGRAM);
      const environment = {
        PASSWORDLESS: passwordless ? 'yes' : 'no',
        DATABASE: join(scratch, 'site.db'),
        SMTP_PORT: smtpPort,
        PORT: port,
        PASSWORD,
        SECRET,
      };
      const set = Object.entries(environment).map(([key, value]) => `${key}=${value}`);
      return { command: 'env', args: [...set, '/usr/bin/python3', program] };
    },
    readyPath: '/ready',
  };
}

/** Passwords, with an optional second step by authenticator or email; accounts are confirmed by email. */
export const FLASK = build('flask', false);
/** Links by email and no passwords. */
export const FLASK_LINKS = build('flask-links', true);
