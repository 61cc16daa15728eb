"""Which words say the same to people who build software, for `content.gist`: a small lexicon, read as data.

One concept a line, its first word names it; a phrase stands in quotes. Chinese and Japanese terms are found inside a
run of characters, the longest first. Only what means the same in a lesson stands on one line: `folder` and `file` do
not, nor do `test` and `check`. Tools are names and never synonyms of each other.
"""

from __future__ import annotations

CONCEPTS = """
flaky unstable intermittent nondeterministic wackelig instable 不稳定 偶发 不安定
test tests spec unittest testcase 测试 テスト
retry rerun "re run" "run again" "try again" repeat wiederholen réessayer 重试 重跑 再実行 リトライ
ci pipeline "build server" "continuous integration" 流水线
build compile bauen 构建 编译 ビルド
broken failed failing fail failure red "call failed" kaputt fehlgeschlagen 失败 失敗
folder directory dir verzeichnis ordner dossier répertoire 目录 文件夹 ディレクトリ フォルダ
file files datei fichier 文件 ファイル
lockfile "lock file"
rewrite overwrite "write anew" change modify alter edit touch anfassen ändern überschreiben modifier 改写 修改
rewrite 覆盖 \
改动 变更 変更
log logs logging logger "log line" "write to the log" protokollieren journaliser 日志 ログ
body payload content inhalt corps 正文
request req requests anfrage requête 请求 リクエスト
handler controller 处理器
payment payments pay checkout zahlung paiement 支付 付款 決済
card "credit card" karte carte 卡
number numbers nummer numéro 号码 番号
migration migrations migrate 迁移 マイグレーション
table tabelle tables 表 テーブル
second seconds sec
deploy ship release "roll out" rollout deployment deploys ausrollen déployer 部署 发布 上线 デプロイ
web frontend "front end" "web app" webapp 前端 フロントエンド
backend "back end" 后端
new newer latest later recent neue neuer récent nouveau 新 新版 新しい
revision rev version versions 版本 リビジョン バージョン
report show return returns answer melden zeigen retourner renvoyer 返回 显示 返す
wait await warten attendre 等待 等 待つ
path location place pfad chemin 路径 パス
fixed hardcoded "hard coded" constant fest 固定 写死 固定パス
share shared teilen teilt partager 共享 共用 共有
worker workers job 工作进程 ワーカー
write written wrote store stored save put keep kept speichern schreiben ablegen enregistrer écrire stocker 写
write 写入 \
存 存储 保存 存放 書く 書き込む 保存する
cache cached caching zwischenspeichern 缓存 キャッシュ
rate rates kurs kurse taux
exchange fx wechsel wechselkurs wechselkurse "exchange rate" "exchange rates"
bill bills charge charges berechnen berechnet facturer 计费 收费 課金
provider vendor supplier anbieter fournisseur 供应商 提供商
call calls "api call" aufruf aufrufe appel 调用 呼び出し
database db databases datenbank "base de données" 数据库 库里 库 データベース
session sessions connection verbindung
close closing closes schließen fermer 关闭 閉じる
finally
block
merge merged merging "merge in" zusammenführen fusionner 合并 合入 マージ
review reviewed reviews reviewer approve approval sign-off revue 评审 审查 レビュー
memory mem speicher mémoire 内存 メモリ
limit limits ceiling maximum grenze limite 限制 上限 制限
increase raise bump "turn up" enlarge grow erhöhen augmenter 提高 增加 调大 増やす 上げる
decrease lower reduce shrink senken réduire 降低 减少 下げる 減らす
kill killed oomkilled "oom killed" oom "gets killed" 杀掉 杀死 杀
export exporter exports 导出 エクスポート
import importer imports 导入 インポート
pin pinned "stays pinned" freeze "do not upgrade" "don't upgrade" "dont upgrade" "never upgrade" "not upgrade"
pin 锁定
upgrade update bump-version aktualisieren 升级 更新 アップグレード
config configuration settings setting konfiguration einstellungen 配置 设置 設定
reformat format formatting reformats formatierung formater 格式 格式化 フォーマット
repository repo repos dépôt 仓库 リポジトリ
event events message messages 事件 消息 イベント メッセージ
service services dienst dienste 服务 サービス
replay "play again" reprocess リプレイ 重放 回放
flag flags toggle toggles "feature flag" "feature flags" "feature toggle" 功能开关 フラグ
remove delete removed deleted drop "clean up" cleanup purge löschen entfernen supprimer 删除 移除 清理 削除
everybody everyone all "all users" "full rollout" alle tous 所有人 全员 全部
week weeks
money amount amounts geld betrag argent montant 金额 お金
integer int integers ganze entier 整数
cent cents 分
float floats floating "floating point" 浮点 小数
compare compared comparing vergleichen comparer 比较 比較
commit commits committed "check in" 提交 コミット
local locally lokal localement 本地 本机 ローカル
lint linter
rely depend "count on" 依赖 指望 靠 頼る
find detect catch discover erkennen trouver 发现 检查 检出 見つける
problem problems issue issues trouble 问题 問題
time times timestamp timestamps zeit 时间 時刻 時間
secret secrets credential credentials geheimnis geheimnisse 密钥 シークレット
vault "secret store"
env ".env"
push pushed pousser
force forced
branch branches zweig branche 分支 ブランチ
revert undo "git revert" annuler rückgängig
replica "read replica" リードレプリカ 只读副本 从库
connect connection-to つなぐ つなが 接続 连接 verbinden connecter
direct directly 直接 direkt directement
mail email emails mails "e mail" e-mail 邮件 メール
outbox
transaction transactions tx 事务 トランザクション transaktion
rollback "rolled back" "roll back" 回滚 ロールバック
recall "take back" "taken back" zurückholen
query queries statement abfrage requête-sql 查询 クエリ
index indexes indices 索引 インデックス
password passwords passwort "mot de passe" 密码 パスワード
token tokens 令牌 トークン
key keys schlüssel clé 键 キー
user users nutzer utilisateur 用户 ユーザー
error errors exception exceptions fehler erreur 错误 报错 出错 异常 エラー 例外
timeout timeouts "time out" 超时 タイムアウト
queue queues warteschlange 队列 キュー
thread threads 线程 スレッド
lock locks locked sperre verrou 锁 ロック
server servers host 服务器 サーバー
machine machines rechner 机器 マシン
dependency dependencies package packages library abhängigkeit dépendance 依赖包 依賴 依存
install installed installieren installer 安装 インストール
function functions method func funktion fonction 函数 方法 関数
variable variables var 变量 変数
field fields column columns spalte feld champ 字段 列 カラム
row rows record records zeile ligne 行 记录 レコード
null nil none-value 空值
value values wert valeur 值 値
code quellcode 代码 コード
generated "auto generated" generiert généré 生成
comment comments kommentar commentaire 注释 评论 コメント
document documentation docs doc dokumentation 文档 ドキュメント
ticket issue-ticket 工单 チケット
name names benennen nom 名字 命名 名前
alert alerts alarm 告警 报警 アラート
backup backups sicherung sauvegarde 备份 バックアップ
image images 镜像 イメージ
container containers 容器 コンテナ
script scripts 脚本 スクリプト
command commands befehl commande 命令 コマンド
header headers
response responses antwort réponse 响应 レスポンス
schema schemas 模式 スキーマ
data daten données 数据 データ
parse parsing parser 解析 パース
validate validation verify prüfen valider 校验 验证 検証
encrypt encryption verschlüsseln chiffrer 加密 暗号化
permission permissions rights 权限 権限
start begin launch starten démarrer 启动 开始 開始 起動
stop halt stoppen arrêter 停止
paginate pagination paging "page by" "pages by" 分页
cursor cursors 游标 カーソル
api apis endpoint endpoints route routes 接口 エンドポイント
errorcode "error code" "error codes" fehlercode 错误码 エラーコード
text texts words 文字 一段文字 文本 テキスト
carry bear contain include 带 带上 enthalten 含む
mobile 移动 移动端 モバイル
app application applications anwendung 应用 アプリ
sign signing signed signature signatur 签名 署名
rotate rotates rotation replace replaced 轮换 更换
old previous former alte ancien 旧 旧的 古い
slow "takes seconds" "take seconds" "takes ages" langsam lent 慢 好几秒 遅い
deep far
production prod live real 生产 线上 真实 本番
fixture fixtures
recorded recording aufgezeichnet enregistré 录制
booking bookings reservation reservations buchung 预订 予約
search suche recherche 搜索 検索
order sequence reihenfolge 顺序
backwards-compatible compatible kompatibel 兼容
deprecated obsolete veraltet 废弃 过时
duplicate duplicates duplicated doppelt 重复
unique eindeutig 唯一
large big huge groß 大
small tiny klein 小
empty blank leer 空
default standard 默认 既定
optional 可选
network netzwerk réseau 网络 ネットワーク
memory-leak leak leaks 泄漏
race "race condition" 竞态
async asynchronous asynchron 异步 非同期
sync synchronous synchron 同步 同期
batch batches chunk chunks stapel 批量 バッチ
parallel concurrently concurrent 并发 并行 並列
template templates vorlage 模板
translation translations übersetzung 翻译
screenshot screenshots 截图
button knopf bouton 按钮 ボタン
page pages seite 页面 ページ
link links verweis lien 链接 リンク
release-notes changelog 变更日志
branch-name branchname 分支名
ask question frage 询问 質問
tell inform notify benachrichtigen 通知
customer customers kunde client 客户 顧客
team mannschaft équipe 团队 チーム
report reporting bericht rapport 报告 レポート
run ran runs running execute laufen exécuter 运行 执行 跑 実行
create creates make-new erstellen créer 创建 新建 作成
enable "switch on" "turn on" aktivieren activer 启用 开启 打开 有効
disable "switch off" "turn off" deaktivieren désactiver 禁用 無効
"""

WEAK = """
write send use take make do get give let choose pick go put set please want need have be keep thing way case
case's code file call time number new person work add look good bad part step still really whole much more most
always every each all any just simply only whenever when if then so because since that's which who what where
how why first once also even again already else otherwise however therefore after before inside within between
under below per
"""
"""Words that add little: two lessons that share these only share nothing."""

STOP = """
a an the this that these those it its is are was were be been being am do does did done doing of in on at as by
for with and or so to from than then we you i they he she our your my us me them their his her will would shall
should must can could may might ought please just ever even also really again some such simply only has have had
having there here into onto via through among amongst across about up down out off upon within inside between
below under while if when whenever once because since though although which who whom whose what where how why
not no never none nor without don't dont doesn't isn't aren't won't can't cannot shouldn't mustn't stop avoid
instead rather over prefer prefers preferred use uses used using choose go goes going went get gets got kept let
lets make makes made take takes took put puts set sets sets' give gives always every each all any everybody
nobody whoever one ones thing things way now today last first next but however therefore that's it's we're i'd
like plz pls hey ur ok yes need needs needed want wants whole single very much too more most less still already
else otherwise before after afterwards until till mainly kindly remember reminder agreed decided whether w/ etc
own same der die das den dem des ein eine einen einem einer eines und oder aber sondern nicht nie niemals kein
keine keinen mehr im ins auf aus bei mit nach von vom zu zur zum für über unter vor ist sind war wird werden
wurde hat haben sich es sie er wir ihr man bitte noch einmal schon wieder weil da dass wenn als auch nur dafür
immer muss müssen soll jede jeder jedes gehören gehört liegt bevor statt le la les l' un une du de d' et ou mais
ne pas jamais plus en dans sur sous avec pour par sans est sont être ont il elle nous vous ils elles que qui
quoi se sa son ses ce cette ces au aux faut plutôt toujours avant après utiliser utilisez faire faites fait
préférer préférez svp même quand
"""

CJK_STOP = """
必须 需要 一定 请 记得 大家 各位 以后 今后 每次 所有 全部 都 要 的 了 在 把 被 和 与 或 并 而是 而 就 才 再 先
后 前 之前 以前 之后 一遍 一次 一下 自己 用 使用 采用 来 去 上 下 里 里面 中 中的 对 于 给 让 帮 你 我 他 我们
是 有 也 还 又 很 最近 因为 所以 如果 时 当 一律 统一 任何情况下 凡是 规定 现在 代码 因此 不要 别 禁止 不允许
不能 不可 不得 勿 没有 没 不 无需 不必 啊 哈 吧 では には のは のを ので から ため を に は が の と も で へ や
ください こと もの よう 必ず して する します 使う 使って 使い なく ない ないで しない やめて ではなく それ これ
ほう 今後 いつも だから
"""

NEGATIONS = """
no not never none neither nor cannot don't dont doesn't doesnt isn't aren't won't can't cant shouldn't mustn't stop
avoid forbid forbidden ban refrain nie niemals nicht kein keine keinen keiner ne pas jamais
"""

CJK_NEGATIONS = "不要 别 禁止 不允许 不能 不可 不得 勿 没有 不必 无需 不用 不许 不存 不"
JA_NEGATIONS = "ではなく しない ないで ません 禁止 やめて つながず せず ずに 使わない 使わず"

TOOLS = """
npm pnpm yarn bun deno node pip pipenv poetry uv conda cargo maven gradle bazel cmake ninja
ruff flake8 pylint black isort mypy pyright eslint prettier biome tslint oxlint rubocop
pytest unittest nose jest vitest mocha cypress playwright selenium
postgres postgresql mysql mariadb sqlite duckdb oracle mongodb mongo cassandra dynamodb snowflake bigquery clickhouse
redis memcached valkey kafka rabbitmq nats sqs pulsar kinesis celery sidekiq
docker podman kubernetes k8s helm nomad terraform pulumi ansible puppet chef vagrant
jenkins circleci travis argo flux github gitlab bitbucket jira linear confluence notion slack
react vue svelte angular solid next nuxt remix django flask fastapi rails laravel spring express
java kotlin scala python ruby golang rust typescript javascript php perl elixir swift
nginx apache caddy traefik envoy haproxy istio consul
prometheus grafana datadog sentry kibana elasticsearch opensearch solr lucene splunk loki
aws gcp azure s3 lambda ec2 cloudfront cloudflare vercel netlify heroku
git svn mercurial vim emacs vscode webpack vite rollup esbuild parcel turbopack
pandas polars numpy spark dask ray airflow dagster prefect dbt
grpc graphql rest soap websocket http https json yaml toml xml protobuf avro parquet csv utc gmt
chrome firefox safari linux macos windows ubuntu debian alpine
"""
"""Names of tools and formats: two lessons that name different ones say different things."""

UNITS = """
second s sec secs seconds sekunde sekunden seconde secondes 秒 秒鐘
minute min mins minutes minuten 分钟 分間
hour h hr hrs hours stunde stunden heure heures 小时 時間
day d days tag tage tagen jour jours 天 日
week weeks woche wochen semaine semaines 周 星期 週間
month months monat monate mois 个月 月 か月
year years jahr jahre an ans 年
kb kib
mb mib mi
gb gib gi
percent % prozent pourcent
ms millisecond milliseconds 毫秒
"""

NUMERALS = {
    "one": "1", "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7", "eight": "8", "nine":
"9",
    "ten": "10", "twelve": "12", "fifteen": "15", "twenty": "20", "thirty": "30", "forty": "40", "fifty": "50",
    "sixty": "60", "ninety": "90", "hundred": "100", "once": "1", "twice": "2", "thrice": "3", "half": "0.5",
    "eine": "1", "einen": "1", "zwei": "2", "drei": "3", "vier": "4", "fünf": "5", "sechs": "6", "sieben": "7",
    "acht": "8", "neun": "9", "zehn": "10", "neunzig": "90", "deux": "2", "trois": "3", "quatre": "4", "cinq": "5",
    "dix": "10", "一": "1", "二": "2", "两": "2", "三": "3", "四": "4", "五": "5", "六": "6", "七": "7", "八": "8",
    "九": "9", "十": "10",
}  # fmt: skip
"""Number words. `ein` and `une` are articles, and `a` is none."""
