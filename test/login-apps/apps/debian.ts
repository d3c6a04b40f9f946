import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chownSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PASSWORD, USER } from '../app.ts';
import type { App } from '../app.ts';

/** Source code of a project. A wrong password is answered with 401 and the form again. */
export const FOSSIL: App = {
  name: 'fossil',
  file: '/usr/bin/fossil',
  package: 'fossil',
  prepare({ port, scratch }) {
    const repository = join(scratch, 'board.fossil');
    const variables = [`HOME=${scratch}`, `USER=${USER}`];
    const run = (...args: string[]) => execFileSync('env', [...variables, 'fossil', ...args], { stdio: 'pipe' });
    run('init', '--admin-user', USER, repository);
    run('user', 'password', USER, PASSWORD, '--repository', repository);
    run('user', 'capabilities', 'nobody', '', '--repository', repository);
    run('user', 'capabilities', 'anonymous', '', '--repository', repository);
    return { command: 'env', args: [...variables, 'fossil', 'server', '--port', String(port), repository] };
  },
  readyPath: '/login',
};

const SERVER = `<Server port="-1"><Service name="Catalina"><Connector address="127.0.0.1" port="PORT"/>
  <Engine name="Catalina" defaultHost="localhost">
    <Realm className="org.apache.catalina.realm.LockOutRealm" failureCount="50">
      <Realm className="org.apache.catalina.realm.MemoryRealm"/></Realm>
    <Host name="localhost" appBase="webapps" unpackWARs="false" autoDeploy="false">
      <Context path="/examples" docBase="/usr/share/tomcat10-examples/examples"/></Host></Engine></Service></Server>`;

/** Of the two servlets that every application of Tomcat has. */
const SERVLETS = `<web-app xmlns="https://jakarta.ee/xml/ns/jakartaee" version="6.0">
  <servlet><servlet-name>default</servlet-name><servlet-class>org.apache.catalina.servlets.DefaultServlet</servlet-class></servlet>
  <servlet><servlet-name>jsp</servlet-name><servlet-class>org.apache.jasper.servlet.JspServlet</servlet-class></servlet>
  <servlet-mapping><servlet-name>default</servlet-name><url-pattern>/</url-pattern></servlet-mapping>
  <servlet-mapping><servlet-name>jsp</servlet-name><url-pattern>*.jsp</url-pattern></servlet-mapping>
  <welcome-file-list><welcome-file>index.html</welcome-file></welcome-file-list></web-app>`;

/** The form login of servlets: the application's page of an error says that a password is wrong. */
export const TOMCAT: App = {
  name: 'tomcat',
  file: '/usr/share/tomcat10-examples/examples/jsp/security/protected/login.jsp',
  package: 'tomcat10-examples',
  prepare({ port, scratch }) {
    const home = '/usr/share/tomcat10';
    for (const folder of ['conf', 'logs', 'temp', 'work', 'webapps']) mkdirSync(join(scratch, folder));
    writeFileSync(join(scratch, 'conf/server.xml'), SERVER.replace('PORT', String(port)));
    const password = PASSWORD.replaceAll('&', '&amp;').replaceAll('"', '&quot;');
    const user = `<user username="${USER}" password="${password}" roles="tomcat,role1"/>`;
    writeFileSync(join(scratch, 'conf/tomcat-users.xml'), `<tomcat-users>${user}</tomcat-users>`);
    writeFileSync(join(scratch, 'conf/web.xml'), SERVLETS);
    const jars = ['bootstrap.jar', 'tomcat-juli.jar'].map((jar) => join(home, 'bin', jar));
    const options = ['-Xmx256m', '-XX:TieredStopAtLevel=1', `-Dcatalina.home=${home}`, `-Dcatalina.base=${scratch}`];
    const program = 'org.apache.catalina.startup.Bootstrap';
    return { command: 'java', args: [...options, '-cp', jars.join(':'), program, 'start'] };
  },
  readyPath: '/examples/',
};

/** A server of music. */
export const SUPYSONIC: App = {
  name: 'supysonic',
  file: '/usr/bin/supysonic-server',
  package: 'supysonic',
  prepare({ port, scratch }) {
    const settings = [
      '[base]',
      `database_uri = sqlite:///${join(scratch, 'music.db')}`,
      '[webapp]',
      `cache_dir = ${join(scratch, 'cache')}`,
      'log_level = INFO',
    ];
    writeFileSync(join(scratch, '.supysonic'), settings.join('\n'));
    const variables = [`HOME=${scratch}`];
    const add = ['supysonic-cli', 'user', 'add', USER, '--password', PASSWORD];
    execFileSync('env', [...variables, ...add], { stdio: 'pipe', cwd: scratch });
    const address = ['--host', '127.0.0.1', '--port', String(port)];
    return { command: 'env', args: [...variables, 'supysonic-server', ...address] };
  },
};

const ZNC_SALT = 'harbour-and-lighthouse';
/** The user `nobody` of every Linux. */
const NOBODY = 65_534;

/** A bouncer for chats, administered by its web pages. The form is part of every page. It refuses to run as root. */
export const ZNC: App = {
  name: 'znc',
  file: '/usr/bin/znc',
  package: 'znc',
  prepare({ port, scratch }) {
    const hash = createHash('sha256').update(`${PASSWORD}${ZNC_SALT}`).digest('hex');
    const listener = [
      'AllowIRC = false',
      'AllowWeb = true',
      'Host = 127.0.0.1',
      'IPv6 = false',
      `Port = ${port}`,
      'SSL = false',
    ];
    const password = ['Method = sha256', `Hash = ${hash}`, `Salt = ${ZNC_SALT}`];
    const settings = [
      'Version = 1.8.2',
      'LoadModule = webadmin',
      `<Listener web>\n${listener.join('\n')}\n</Listener>`,
      `<User ${USER}>\nAdmin = true\nNick = ${USER}\n<Pass password>\n${password.join('\n')}\n</Pass>\n</User>`,
    ];
    const folder = join(scratch, 'configs');
    const file = join(folder, 'znc.conf');
    mkdirSync(folder);
    writeFileSync(file, settings.join('\n'));
    const args = ['znc', '--foreground', '--datadir', scratch];
    if (process.getuid?.() !== 0) return { command: 'env', args };
    for (const path of [scratch, folder, file]) chownSync(path, NOBODY, NOBODY);
    const user = [`--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups'];
    return { command: 'setpriv', args: [...user, ...args] };
  },
};
